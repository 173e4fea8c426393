"""Chooses the texts that are frozen: candidates in order, until there are enough of each kind."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tests.same.asking import NAMES, outcome_of
from tests.same.candidates import FILES, WRONG_FILES, Candidate, candidate, files, points
from tests.same.outcome import Entry, Kind, Outcome
from tests.same.working import worked

TEXTS, REFUSALS, OF_EACH = 1_500, 5_000, 50
# A few more are taken than needed, because some day a text may not be emitted, or not be refused,
# any more.
SPARE, MARGIN = 6, 40
MOST_TEXTS, MOST_REFUSALS = TEXTS + MARGIN, REFUSALS + MARGIN
# This many places are left for texts with rare directives.
ROOM = 200
# Texts that take longer are left out, so that the whole comparison is quick. To find whom to blame
# for a refusal without code (DT300) may take a second for each directive, so it depends on the
# machine which of these come near the limit.
MOST_SECONDS, MOST_SECONDS_REFUSED = 1.5, 0.4
# At most this many refusals have the same first code; there is no limit for schedules that were
# judged.
OF_A_CODE, JUDGED = 330, "DT20"
# One text in this many is proved, and its proof may take this long.
PROVED, MOST_SECONDS_PROVED = 3, 2.5
# In each round every source gives this many texts: sources whose texts are emitted, sources of
# which some texts are refused, and sources with rare directives.
EMITTED: Mapping[str, int] = {
    "cases": 30,
    "ordinary": 24,
    "full": 30,
    "expert": 20,
    "shifted": 6,
    "stencils": 6,
}
REFUSED: Mapping[str, int] = {"pairs": 120, "strange": 100, "misplaced": 100, "mistaken": 250}
RARE: Mapping[str, int] = {
    "varied": 110,
    "specialized": 6,
    "boxed": 6,
    "otherwise": 20,
    "swapped": 10,
    "panels": 10,
    "chains": 30,
    "descending": 20,
    "same_bits": 20,
}
# The sources of texts for some directives, which are in few other texts.
OWN: Mapping[str, str] = {
    "online": "chains",
    "descending": "descending",
    "same_bits": "same_bits",
}
ROUNDS = 60

Made = tuple[Candidate, Outcome]
Job = TypeVar("Job", Candidate, tuple[str, int])


@dataclass
class Chosen:
    """The entries that are chosen so far."""

    emitted: list[Entry] = field(default_factory=list[Entry])
    refused: list[Entry] = field(default_factory=list[Entry])
    directives: Counter[str] = field(default_factory=Counter[str])
    codes: Counter[str] = field(default_factory=Counter[str])
    texts: set[str] = field(default_factory=set[str])

    def missing(self) -> list[str]:
        """Return the directives that too few texts have."""
        return [one for one in all_directives() if self.directives[one] < OF_EACH + SPARE]

    @property
    def is_full(self) -> bool:
        """True if nothing more is needed."""
        enough = len(self.emitted) >= MOST_TEXTS and len(self.refused) >= MOST_REFUSALS
        return enough and not self.missing()

    def consider(self, one: Candidate, outcome: Outcome, is_wanted: bool = False) -> None:
        """Take a text if it is needed; a wanted text is always taken."""
        name, text = one
        if text in self.texts:
            return
        entry = Entry(name, text, False, outcome)
        match outcome.kind:
            case Kind.EMITTED if is_wanted or self._is_emission_needed(outcome):
                self.emitted.append(entry)
                self.directives.update(outcome.directives)
                self.texts.add(text)
            case Kind.REFUSED if is_wanted or self._is_refusal_needed(outcome):
                self.refused.append(entry)
                self.codes[first_code(outcome)] += 1
                self.texts.add(text)
            case _:
                pass

    def _is_emission_needed(self, outcome: Outcome) -> bool:
        if outcome.seconds > MOST_SECONDS:
            return False
        missing = self.missing()
        if not set(outcome.directives).isdisjoint(missing):
            return True
        return len(self.emitted) < (MOST_TEXTS - ROOM if missing else MOST_TEXTS)

    def _is_refusal_needed(self, outcome: Outcome) -> bool:
        if len(self.refused) >= MOST_REFUSALS or outcome.seconds > MOST_SECONDS_REFUSED:
            return False
        code = first_code(outcome)
        return code.startswith(JUDGED) or self.codes[code] < OF_A_CODE


def all_directives() -> tuple[str, ...]:
    """Return the directives of the language, by their first names."""
    return tuple(dict.fromkeys(NAMES.values()))


def first_code(outcome: Outcome) -> str:
    """Return the code of the first error."""
    errors = [one for one in outcome.messages if one.words.startswith("error")]
    return errors[0].code if errors else ""


def choose(workers: int, say: Callable[[str], None]) -> list[Entry]:
    """Choose all entries, without proofs."""
    chosen = Chosen()
    for one, outcome in _in_order(_asked, [*files(FILES), *files(WRONG_FILES), *points()], workers):
        chosen.consider(one, outcome, is_wanted=True)
    for number in range(ROUNDS):
        if chosen.is_full:
            break
        jobs = list(_jobs(chosen, number))
        for made in _in_order(_tried, jobs, workers):
            chosen.consider(*made)
        counts = f"{len(chosen.emitted)} texts, {len(chosen.refused)} refusals"
        say(f"round {number}: {counts}; more are needed of {', '.join(chosen.missing()) or '-'}")
    return [*chosen.emitted, *chosen.refused]


def more(entries: Iterable[Entry], workers: int, say: Callable[[str], None]) -> list[Entry]:
    """Choose more texts with directives that too few of the entries have, without proofs."""
    known = list(entries)
    chosen = Chosen(texts={one.text for one in known})
    for one in known:
        chosen.directives.update(one.outcome.directives)
    names = {one.name for one in known}
    for number in range(ROUNDS):
        missing = chosen.missing()
        if not missing:
            break
        sources = {OWN.get(word) for word in missing}
        jobs = [
            (source, number * count + at)
            for source, count in RARE.items()
            if None in sources or source in sources
            for at in range(count)
            if f"{source}/{number * count + at}" not in names
        ]
        for made, outcome in _in_order(_tried, jobs, workers):
            if not set(chosen.missing()).isdisjoint(outcome.directives):
                chosen.consider(made, outcome)
        say(f"round {number}: {len(chosen.emitted)} texts more; missing {', '.join(missing)}")
    return chosen.emitted


def _jobs(chosen: Chosen, number: int) -> Iterator[tuple[str, int]]:
    """Yield the sources and seeds of a round, for sources that may give what is missing."""
    wanted = dict(RARE) if chosen.missing() else {}
    if len(chosen.emitted) < MOST_TEXTS - ROOM:
        wanted |= EMITTED
    if len(chosen.refused) < MOST_REFUSALS or len(chosen.emitted) < MOST_TEXTS:
        wanted |= REFUSED
    for source, count in wanted.items():
        yield from ((source, number * count + at) for at in range(count))


def _asked(one: Candidate) -> Made:
    return one, outcome_of(one[1], asks_proof=False)


def _tried(job: tuple[str, int]) -> Made | None:
    one = candidate(*job)
    return None if one is None else _asked(one)


def _in_order(work: Callable[[Job], Made | None], jobs: list[Job], workers: int) -> Iterator[Made]:
    """Yield the results of jobs in the order of the jobs, whichever is done first."""
    found = {job: result for job, result in worked(work, jobs, workers) if result is not None}
    yield from (found[job] for job in jobs if job in found)


def proved(entries: Iterable[Entry], workers: int) -> list[Entry]:
    """Return the entries, of which some now have verdicts.

    These are all entries of files, and one in PROVED of the others. An entry whose proof takes too
    long gets none.
    """
    kept = list(entries)
    emitted = [one for one in kept if one.outcome.kind is Kind.EMITTED]
    jobs = [one for at, one in enumerate(emitted) if at % PROVED == 0 or one.name.startswith(FILES)]
    results = {one.name: now for one, now in worked(_proof, jobs, workers)}
    return [_with_proof(one, results.get(one.name)) for one in kept]


def _proof(entry: Entry) -> Outcome:
    return outcome_of(entry.text, asks_proof=True)


def _with_proof(entry: Entry, now: Outcome | None) -> Entry:
    if now is None or now.kind is not Kind.EMITTED or now.seconds > MOST_SECONDS_PROVED:
        return entry
    return replace(entry, asks_proof=True, outcome=now)

"""Check a certificate against the algorithm and the kernel that it is about, without using isl.

The checker reads both texts anew and does the proof again. In this second proof the only source for
which sets are empty is the certificate itself. The sets that the proof asks about must then be
exactly those that the certificate lists, and z3 must find each of them empty. Where the proof
relies on a set having a point, z3 must find such a point.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.frozen import dataclass
from dtpoly.source import Source
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.checker.checked_lemmas import problem
from dtpoly.verify.checker.claims import Claim, MalformedError, claims_of, read
from dtpoly.verify.checker.comparing import differences
from dtpoly.verify.checker.scripts import OpenError, script_of
from dtpoly.verify.checker.solver import solve
from dtpoly.verify.proof.obligations import Attempt, attempts, heading, section, taken_away
from dtpoly.verify.proof.verify import LayerVerdict

__all__ = ["CheckedCertificate", "check_certificate"]

SECONDS = 60.0
SECONDS_FOR_A_SET = 10.0
# For all sets of a certificate together. The certificates that we know take less than a tenth.
SECONDS_FOR_ALL = 120.0
LATE = "all of them together take too long"
MOST_COMPLAINTS = 20
MOST_CHARACTERS = 400  # of a complaint: what a certificate says may be of any length
# A certificate with an undecided set is not accepted. After this many undecided sets the checker
# gives up: whoever forges a certificate can make every question a hard one.
MOST_OPEN = 3


@dataclass(frozen=True, slots=True)
class CheckedCertificate:
    """The result of checking a certificate.

    It is accepted if nothing is wrong with it and z3 has decided every set.
    """

    accepted: bool
    complaints: tuple[str, ...]
    # The number of sets that z3 decided, and of those that it could not decide.
    decided: int
    not_decided: int
    seconds: float
    # What else must be right, besides the certificate, for the kernels to be right.
    not_covered: tuple[str, ...]
    # The Funcs that the kernels compute, and that the certificate is therefore about.
    funcs: tuple[str, ...] = ()


def check_certificate(certificate: str, dt_text: str, kernel_text: str) -> CheckedCertificate:
    """Check a certificate; it raises nothing, whatever text the certificate is."""
    began = time.monotonic()
    decided = not_decided = 0
    complaints: list[str] = []
    found: list[Attempt] = []
    try:
        claims = _claims(certificate, dt_text, kernel_text)
        found = attempts(_program(dt_text), kernel_text, SECONDS, lambda one: _answer(claims, one))
        complaints += _regenerated(found, claims)
        end = time.monotonic() + SECONDS_FOR_ALL
        for attempt in () if complaints else found:
            for answer, told in _decided(attempt, claims[attempt.function.name], end):
                decided += answer is True
                not_decided += answer is None
                complaints += [told] if told else []
                if not_decided >= MOST_OPEN:
                    raise MalformedError("so the other sets are not looked at")
    except MalformedError as error:
        complaints.append(str(error))
    except RecursionError:
        complaints.append("it is nested too deeply")
    seconds = time.monotonic() - began
    shown = tuple(_line(one) for one in complaints[:MOST_COMPLAINTS])
    funcs = tuple(attempt.function.name for attempt in found)
    beyond = tuple(_not_covered(found))
    return CheckedCertificate(not complaints, shown, decided, not_decided, seconds, beyond, funcs)


def _line(text: str) -> str:
    """Return a complaint as one printable line.

    A certificate's text may be quoted in it, and must not be able to pose as an answer of the
    checker.
    """
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)


def _not_covered(found: list[Attempt]) -> Iterator[str]:
    """Name what a certificate takes for granted, and what it does not speak about at all."""
    yield "how the verifier reads Python and Triton"
    assumed = {one for attempt in found for one in attempt.run.assumptions}
    known = {one.instance[0] for one in assumed if one.lemma is Lemma.KNOWN}
    if known:
        yield f"what functions known by their text do ({len(known)})"
    promises = {one for attempt in found for one in attempt.function.assumed}
    if promises:
        yield f"what callers promise ({len(promises)})"
    # A kernel file may compute only some of the Funcs; the proof is about these alone.
    if found:
        yield f"Funcs besides {', '.join(attempt.function.name for attempt in found)}"
    yield "rounding"
    yield "Python, torch, Triton and the GPU"


def _claims(certificate: str, dt_text: str, kernel_text: str) -> dict[str, Claim]:
    """Return the claims of the certificate by function, or refuse it if it is about other texts."""
    document = read(certificate)
    said = {key: value for key, value in document.items() if key != "functions"}
    found = next(differences(said, heading(dt_text, kernel_text)), None)
    if found is not None:
        raise MalformedError(f"it is not a certificate of these texts: {found}")
    return claims_of(document)


def _program(text: str) -> Program:
    try:
        with deep_recursion():
            parsed = parse(Source("algorithm", text))
            resolved = resolve(parsed.file)
    except DtpolyError as error:
        raise MalformedError(f"the algorithm is not read: {error}") from error
    if has_errors([*parsed.found, *resolved.found]):
        raise MalformedError("the algorithm has mistakes")
    return resolved.program


def _answer(claims: dict[str, Claim], func: str) -> Callable[[Region], bool]:
    """Return the function that the proof asks whether a set is empty: it looks in the certificate.

    If the kernel file could not be read, it has no functions; `func` is then the empty text, and no
    set counts as empty.
    """
    if not func:
        return lambda _: False
    if func not in claims:
        raise MalformedError(f"it says nothing of '{func}'")
    return claims[func].is_empty


def _regenerated(found: list[Attempt], claims: dict[str, Claim]) -> Iterator[str]:
    """Yield what is wrong with the certificate's lists, compared with those the texts lead to."""
    names = [attempt.function.name for attempt in found]
    for attempt in found:
        function = attempt.function
        failed = [layer for layer in function.layers if layer.verdict is not LayerVerdict.PROVED]
        for layer in failed:
            where = f"line {layer.line} of '{function.name}'"
            yield f"{where}: '{layer.name}' does not follow: {layer.why}"
        if failed:
            continue
        claim = claims[function.name]
        wrong = differences(claim.section, section(attempt))
        yield from (f"'{function.name}': {one}" for one in wrong)
        away = {one for o in attempt.run.obligations for one in taken_away(o.region)}
        needed = {attempt.table.add(one) for one in away}
        for at in claim.witnesses:
            if at not in needed:
                yield f"'{function.name}': set {at} needs no witness"
        for one in attempt.run.assumptions:
            if (what := problem(one)) is not None:
                yield f"'{function.name}': {what}"
    yield from (f"'{one}' is no function of the kernel" for one in claims if one not in names)


def _decided(attempt: Attempt, claim: Claim, end: float) -> Iterator[tuple[bool | None, str]]:
    """Yield for each set whether it is as the proof needs it, with a complaint if it is not.

    The answer is None where z3 does not decide. A set that must have a point may not have a
    projection among the sets that are taken away from it: the script that z3 gets for such a set
    may have more points than the set itself.
    """
    asked = _Asked(attempt, claim, end, {})
    run, func = attempt.run, attempt.function.name
    for one in run.obligations:
        answer, why = asked.about(one.region)
        where = f"line {one.line} of '{func}', {one.part}"
        match answer:
            case "unsat":
                yield True, ""
            case "sat":
                yield False, f"{where}: '{one.what}' does not hold for {why}"
            case _:
                yield None, f"{where}: '{one.what}' is not decided: {why}"
    for one in run.inhabited:
        answer, why = asked.about(one.region)
        where = f"line {one.line} of '{func}', {one.part}"
        if answer == "sat" and not any(taken_away(one.region)):
            yield True, ""
        elif answer == "unsat":
            yield False, f"{where}: it is not so that {one.what}"
        else:
            yield None, f"{where}: '{one.what}' is not decided: {why}"


@dataclass(frozen=True)
class _Asked:
    """The answers of z3 about the sets of a proof; it is asked about each set once."""

    attempt: Attempt
    claim: Claim
    end: float
    known: dict[int, tuple[str, str]]

    def about(self, region: Region) -> tuple[str, str]:
        """Return `unsat`, `sat` or `unknown`, with the point or with why it is not known."""
        table = self.attempt.table
        at = table.add(region)
        if at not in self.known:
            self.known[at] = self._solved(region)
        return self.known[at]

    def _solved(self, region: Region) -> tuple[str, str]:
        left = self.end - time.monotonic()
        if left <= 0:
            return "unknown", LATE
        table = self.attempt.table
        try:
            script = script_of(region, lambda of: self.claim.witness(of, table.add(of)))
        except OpenError as error:
            return "unknown", str(error)
        return solve(script, min(SECONDS_FOR_A_SET, left))

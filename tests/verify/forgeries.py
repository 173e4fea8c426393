"""Forges certificates of many kinds, which claim what is not so; none may be accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Protocol

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.set_table import SetTable
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.proof.certificate import certificate, text_of
from dtpoly.verify.proof.obligations import Attempt, attempts, hash_of
from dtpoly.verify.proof.verify import LayerVerdict
from tests.verify import texts
from tests.verify.lying import points_everywhere
from tests.verify.texts import ROOT, changed, program_of

THESIS = ROOT / "tests/data/thesis"
# Files, and for each a change of its algorithm and changes of its kernel that are mistakes.
BASES: dict[Path, tuple[tuple[str, str], tuple[tuple[str, str], ...]]] = {
    ROOT / "examples/matmul.dt": (
        ("matmul[m, n] = rdot(", "matmul[m, n] = 2 * rdot("),
        (
            ("range(0, k_size - 31, 32)", "range(0, k_size - 32, 32)"),
            ("n_mask = (n < n_size)", "n_mask = (n <= n_size)"),
            ("if not even and k_size % 32 != 0:", "if not even and k_size % 32 == 1:"),
        ),
    ),
    ROOT / "examples/softmax.dt": (
        ("rsum(exp(A[x, y]), y)", "rsum(exp(-A[x, y]), y)"),
        (
            ("tl.where(y_mask[None, :], tl.exp(A_tile), 0.0)", "tl.exp(A_tile)"),
            ("y_mask = y < y_size", "y_mask = y <= y_size"),
        ),
    ),
    THESIS / "listing_3_01_add.dt": (
        ("(A[x, y] + B[x, y])", "(A[x, y] - B[x, y])"),
        (("y_mask = y < y_size", "y_mask = y <= y_size"), ("y_start + 193", "y_start + 129")),
    ),
    THESIS / "listing_3_14_swish_partly_fused.dt": (
        ("sigmoid(beta * A[x, y])", "sigmoid(beta + A[x, y])"),
        (("range(0, y_size)", "range(1, y_size)"),),
    ),
    THESIS / "listing_3_19_sum_tensorize.dt": (
        ("rsum(", "rmax("),
        (("range(0, k_size - 15, 16)", "range(0, k_size, 16)"), ("k < k_size", "k <= k_size")),
    ),
}
Document = dict[str, Any]


@dataclass(frozen=True)
class Base:
    """A file whose certificate is good."""

    path: Path
    dt: str
    kernel: str
    certificate: str

    def document(self) -> Document:
        """Return what its certificate says, to be changed."""
        found: Document = json.loads(self.certificate)
        return found

    @property
    def wrong_kernels(self) -> list[str]:
        """Return its kernel with a mistake."""
        return [changed(self.kernel, old, new) for old, new in BASES[self.path][1]]


@dataclass(frozen=True)
class Forged:
    """A certificate that is not good, and the texts that it is given with."""

    certificate: str
    dt: str
    kernel: str


@cache
def base_of(path: Path) -> Base:
    program = program_of(path)
    dt, kernel = path.read_text(), texts.text_of(program)
    return Base(path, dt, kernel, certificate(program, dt, kernel))


@cache
def lied_about(kernel: str, path: Path, which: int) -> list[Attempt]:
    """A proof whose engine says "empty" always, or of one set wrongly; nothing if it fails."""
    # By what a set is, so that it says the same of a set again.
    sets, said = SetTable(), dict[int, None]()

    def liar(region: Region) -> bool:
        found = is_empty(region)
        if not found:
            said.setdefault(sets.add(region))
        return found or which < 0 or [*said][which - 1 : which] == [sets.add(region)]

    with points_everywhere():
        found = attempts(program_of(path), kernel, 60.0, lambda _: liar)
    layers = [layer for one in found for layer in one.function.layers]
    is_proved = all(layer.verdict is LayerVerdict.PROVED for layer in layers)
    return found if is_proved and len(said) >= which else []


Forge = Callable[[Base, Random], Forged]


class Change(Protocol):
    """A change of what is said of a function, in a document."""

    __name__: str

    def __call__(self, of: Document, document: Document, random: Random, /) -> None: ...


def _section(base: Base, random: Random, change: Change) -> Forged:
    """Return the good texts, with a change in what is said of the function."""
    document = base.document()
    change(document["functions"][0], document, random)
    assert json.dumps(document) != json.dumps(base.document())
    return Forged(json.dumps(document), base.dt, base.kernel)


def _one(of: Document, kind: str, random: Random) -> int:
    """Return the number of some set of a kind; of a formula that is more than `true`."""
    return random.choice(
        [at for at, one in enumerate(of["sets"]) if one[0] == kind and one[1] != "[] -> { : true }"]
    )


def empty_a_set(of: Document, _: Document, random: Random) -> None:
    one = of["sets"][_one(of, "holds", random)]
    one[1] = one[1].split("{")[0] + "{ : false }"


def weaken_a_set(of: Document, _: Document, random: Random) -> None:
    """One condition less."""
    long = [one for one in of["sets"] if one[0] == "holds" and " and " in one[1]]
    one = random.choice(long)
    parts = one[1].split(" and ")
    del parts[random.randrange(1, len(parts))]
    one[1] = " and ".join(parts)


def change_a_number(of: Document, _: Document, random: Random) -> None:
    number = re.compile(r"(?<!\w)\d+")
    one = random.choice([one for one in of["sets"] if one[0] == "holds" and number.search(one[1])])
    found = random.choice([*number.finditer(one[1])])
    one[1] = f"{one[1][: found.start()]}{int(found[0]) + 1}{one[1][found.end() :]}"


def put_sets_together_otherwise(of: Document, _: Document, random: Random) -> None:
    one = random.choice([one for one in of["sets"] if one[0] in ("meet", "minus")])
    one[0] = "join"


def take_away_the_other(of: Document, _: Document, random: Random) -> None:
    one = of["sets"][_one(of, "minus", random)]
    one[1:] = one[:0:-1]


def add_a_set(of: Document, _: Document, random: Random) -> None:
    of["sets"].append(["holds", "[] -> { : false }"])


def drop_an_obligation(of: Document, _: Document, random: Random) -> None:
    del of["obligations"][random.randrange(len(of["obligations"]))]


def drop_a_layer(of: Document, _: Document, random: Random) -> None:
    part = random.choice(sorted({one["part"] for one in of["obligations"]}))
    of["obligations"] = [one for one in of["obligations"] if one["part"] != part]


def repeat_an_obligation(of: Document, _: Document, random: Random) -> None:
    at = random.randrange(len(of["obligations"]))
    of["obligations"].insert(at, of["obligations"][at])


def exchange_obligations(of: Document, _: Document, random: Random) -> None:
    pairs = pairwise(of["obligations"])
    first, second = random.choice([two for two in pairs if two[0]["empty"] != two[1]["empty"]])
    first["empty"], second["empty"] = second["empty"], first["empty"]


def point_to_another_set(of: Document, _: Document, random: Random) -> None:
    one = random.choice(of["obligations"])
    one["empty"] = (one["empty"] + random.randrange(1, len(of["sets"]))) % len(of["sets"])


def invent_an_obligation(of: Document, _: Document, random: Random) -> None:
    of["obligations"].append({"part": "value", "line": 1, "what": "is right", "empty": 0})


def change_an_obligation(of: Document, _: Document, random: Random) -> None:
    key, value = random.choice(
        [("line", 7), ("what", "is right"), ("part", "none"), ("line", True)]
    )
    random.choice(of["obligations"])[key] = value


def change_a_witness(of: Document, _: Document, random: Random) -> None:
    """Change a witness that says by which lane and program each element is stored."""
    one = next(o for o in of["obligations"] if o["what"].startswith("every element"))
    needed = _below(of["sets"], one["empty"])
    ways = random.choice([of["witnesses"][str(at)] for at in needed if str(at) in of["witnesses"]])
    for way in ways:
        way[random.randrange(len(way))].append([random.choice((-1, 1, 64))])


def _below(sets: list[Any], at: int) -> list[int]:
    parts = [part for part in sets[at][1:] if isinstance(part, int)]
    return [at, *(one for part in parts for one in _below(sets, part))]


def drop_a_witness(of: Document, _: Document, random: Random) -> None:
    del of["witnesses"][random.choice(sorted(of["witnesses"]))]


def break_a_witness(of: Document, _: Document, random: Random) -> None:
    way = of["witnesses"][random.choice(sorted(of["witnesses"]))][0]
    way[0] = random.choice(
        ("[[1.5]]", '[[1, "x", 0]]', '["1"]', "{}", "null", "[[1, [[1]], -3]]", "0", '[[1, "?"]]')
    )
    way[0] = json.loads(way[0])


def add_a_witness(of: Document, _: Document, random: Random) -> None:
    of["witnesses"]["0"] = []


def drop_an_assumption(of: Document, _: Document, random: Random) -> None:
    del of["assumptions"][random.randrange(len(of["assumptions"]))]


def change_an_assumption(of: Document, _: Document, random: Random) -> None:
    one = random.choice(of["assumptions"])
    one["instance"] = [*one["instance"][:-1], "2"]


def invent_an_assumption(of: Document, _: Document, random: Random) -> None:
    of["assumptions"].append({"lemma": "all is well", "instance": []})


def hide_a_licence(of: Document, _: Document, random: Random) -> None:
    of["licences"] = of["licences"][1:] or ["none"]


def rename_the_function(of: Document, _: Document, random: Random) -> None:
    of["name"] += "_out"


def add_a_key(of: Document, _: Document, random: Random) -> None:
    of["note"] = "all is well"


def drop_a_key(of: Document, _: Document, random: Random) -> None:
    del of[random.choice(sorted(of))]


def drop_the_function(_: Document, document: Document, random: Random) -> None:
    document["functions"] = []


def repeat_the_function(of: Document, document: Document, random: Random) -> None:
    document["functions"].append(of)


def change_a_hash(_: Document, document: Document, random: Random) -> None:
    document[random.choice(("algorithm", "kernel"))]["sha256"] = "0" * 64


def exchange_the_hashes(_: Document, document: Document, random: Random) -> None:
    document["algorithm"], document["kernel"] = document["kernel"], document["algorithm"]


def change_the_heading(_: Document, document: Document, random: Random) -> None:
    key, value = random.choice(
        [("version", 1), ("version", True), ("format", "x"), ("dtpoly", "9"), ("by", "me")]
    )
    document[key] = value


CHANGES: tuple[Change, ...] = (
    *(empty_a_set, weaken_a_set, change_a_number, put_sets_together_otherwise),
    *(take_away_the_other, add_a_set, drop_an_obligation, drop_a_layer, repeat_an_obligation),
    *(exchange_obligations, point_to_another_set, invent_an_obligation, change_an_obligation),
    *(change_a_witness, drop_a_witness, break_a_witness, add_a_witness, drop_an_assumption),
    *(change_an_assumption, invent_an_assumption, hide_a_licence, rename_the_function),
    *(add_a_key, drop_a_key, drop_the_function, repeat_the_function, change_a_hash),
    *(exchange_the_hashes, change_the_heading),
)


def of_another_kernel(base: Base, random: Random) -> Forged:
    """Return a certificate of another file, with the hashes put right."""
    other = base_of(random.choice([path for path in BASES if path != base.path]))
    document = base.document() | {"functions": other.document()["functions"]}
    return Forged(json.dumps(document), base.dt, base.kernel)


def of_a_kernel_edited_since(base: Base, random: Random) -> Forged:
    """Return a certificate of a kernel that got a mistake later, with its hash put right."""
    kernel = random.choice(base.wrong_kernels)
    document = base.document() | {"kernel": {"sha256": hash_of(kernel)}}
    return Forged(json.dumps(document), base.dt, kernel)


def of_an_algorithm_edited_since(base: Base, random: Random) -> Forged:
    dt = changed(base.dt, *BASES[base.path][0])
    document = base.document() | {"algorithm": {"sha256": hash_of(dt)}}
    return Forged(json.dumps(document), dt, base.kernel)


def of_texts_edited_since(base: Base, random: Random) -> Forged:
    """Return a certificate whose hashes are those of the texts before an edit."""
    dt, kernel = random.choice([(base.dt + " ", base.kernel), (base.dt, base.kernel + "\n")])
    return Forged(base.certificate, dt, kernel)


def with_the_verdicts_turned(base: Base, random: Random) -> Forged:
    """Return the true certificate of a kernel with a mistake, in which all verdicts say proved."""
    kernel = random.choice(base.wrong_kernels)
    document = json.loads(certificate(load(Source("a.dt", base.dt)), base.dt, kernel))
    for one in document["functions"]:
        assert {*one["verdicts"].values()} != {"proved"}
        one["verdicts"] = dict.fromkeys(one["verdicts"], "proved")
    return Forged(json.dumps(document), base.dt, kernel)


def by_an_engine_that_finds_all_empty(base: Base, random: Random) -> Forged:
    """Return a certificate of a wrong kernel, by an engine that calls all sets empty."""
    # Of some mistakes no answer makes a proof: what Triton refuses is not read.
    kernels = random.sample(base.wrong_kernels, len(base.wrong_kernels))
    lies = ((kernel, lied_about(kernel, base.path, -1)) for kernel in kernels)
    kernel, found = next((kernel, found) for kernel, found in lies if found)
    return Forged(text_of(found, base.dt, kernel), base.dt, kernel)


def by_an_engine_with_a_bug(base: Base, random: Random) -> Forged:
    """Return a certificate of a right kernel, in which the engine gave one wrong answer."""
    order = list(range(1, 12))
    random.shuffle(order)
    found = next(found for which in order if (found := lied_about(base.kernel, base.path, which)))
    return Forged(text_of(found, base.dt, base.kernel), base.dt, base.kernel)


def by_an_engine_that_hides_a_mistake(base: Base, random: Random) -> Forged:
    """Return a certificate of a wrong kernel, whose mistake one wrong answer hides."""
    kernels = [(kernel, which) for kernel in base.wrong_kernels for which in range(1, 12)]
    random.shuffle(kernels)
    for kernel, which in kernels:
        if found := lied_about(kernel, base.path, which):
            return Forged(text_of(found, base.dt, kernel), base.dt, kernel)
    return by_an_engine_that_finds_all_empty(base, random)


def with_a_text_that_is_no_certificate(base: Base, random: Random) -> Forged:
    text = base.certificate
    at = random.randrange(1, len(text) - 3)
    broken = random.choice(
        (
            *("", "null", "[]", "{}", "NaN", "\0", text[:at], text + "}", "[" * 100_000),
            *(text.replace('"version": 2', '"version": 2.0'), f'{{"version": 2, {text[1:]}'),
            *(text.replace('"line": ', '"line": -'), text.replace('"line": ', '"line": 1e')),
            text.replace('"empty": ', f'"empty": {"9" * 5000}'),
        )
    )
    return Forged(broken, base.dt, base.kernel)


OTHERS: tuple[Forge, ...] = (
    *(of_another_kernel, of_a_kernel_edited_since, of_an_algorithm_edited_since),
    *(of_texts_edited_since, with_the_verdicts_turned, by_an_engine_that_finds_all_empty),
    *(by_an_engine_with_a_bug, by_an_engine_that_hides_a_mistake),
    with_a_text_that_is_no_certificate,
)


def _forging(change: Change) -> Forge:
    return lambda base, random: _section(base, random, change)


KINDS: dict[str, Forge] = {
    **{change.__name__: _forging(change) for change in CHANGES},
    **{forge.__name__: forge for forge in OTHERS},
}


def forged(seed: int) -> tuple[str, Forged]:
    """Return the kind of a forgery by name, and the forgery."""
    kind = [*KINDS][seed % len(KINDS)]
    base = base_of([*BASES][seed // len(KINDS) % len(BASES)])
    return kind, KINDS[kind](base, Random(f"forged {seed}"))

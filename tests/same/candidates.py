"""Makes the texts that may be frozen, from a source and a seed.

The texts are the same on every machine.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from dtpoly.algorithm.program import Argument, Directive, Program
from dtpoly.algorithm.show import show
from dtpoly.explore.space.count import CountedSpace, counted, point_at, sample
from dtpoly.explore.space.space import program_of
from dtpoly.explore.space.space_file import read_space
from tests.attack.pair_known import KNOWN
from tests.attack.pairs import written
from tests.codegen import boxed, specializing
from tests.codegen.cases import (
    RandomCase,
    in_panels,
    launched_otherwise,
    random_case,
    swapped,
    verdict,
)
from tests.codegen.expert import expert
from tests.codegen.joined import PROGRAM as JOINED
from tests.codegen.practised_chains import PRACTISED
from tests.codegen.shifted import random_shifted
from tests.codegen.stencils import random_stencil
from tests.generation import schedules
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.generation.mutations import mutated
from tests.oracle import cases
from tests.same.asking import NAMES

ROOT = Path(__file__).resolve().parents[2]
FILES = ("tests/data/thesis", "tests/data/products", "examples")
WRONG_FILES = ("tests/data/diagnostics", "tests/data/refused")
SPACES = "examples/spaces"
POINTS = 24  # of each space
LIMITS = Limits(labels=4, tensors=3, scalars=2, funcs=3, rank=3, depth=2)
# A longer text takes room and shows nothing more.
MOST_CHARACTERS = 4_000

# Random schedules seldom have these directives.
SELDOM = (
    *("align", "alternate", "atomic", "beside", "descending", "flatten", "panels", "persistent"),
    *("store", "swap", "unroll", "warp_specialize"),
)
ADDED = (
    "Func f; In A: f32; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(x:8); f.block(k:64);"
    " f.atomic(k); f.tensorize(x:0, k:32); f.num_warps(4); f.compile();"
)

Candidate = tuple[str, str]  # its name, and the text


def files(folders: tuple[str, ...]) -> Iterator[Candidate]:
    """Yield each file of some folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).glob("*.dt")):
            yield f"{folder}/{path.stem}", path.read_bytes().decode(errors="replace")


@cache
def _space(path: Path) -> CountedSpace:
    return counted(read_space(str(path)))


def points() -> Iterator[Candidate]:
    """Yield some points of each space, as ordinary texts."""
    for path in sorted((ROOT / SPACES).glob("*.dts")):
        of = _space(path)
        for number in sample(of, POINTS):
            yield f"spaces/{path.stem}/{number}", show(program_of(of.space, point_at(of, number)))


def _is_plain(directives: tuple[Directive, ...]) -> bool:
    """True if no directive is a primitive of a user."""
    return all(one.name in NAMES for one in directives)


def _text(program: Program) -> str | None:
    return show(program) if _is_plain(program.directives) else None


def _pair(seed: int) -> str | None:
    return written(seed)


def _case(seed: int) -> str | None:
    return _text(random_case(seed).program)


def _strange(seed: int) -> str | None:
    return _text(cases.case(seed).program)


def _ordinary(seed: int) -> str | None:
    return _text(cases.ordinary_case(seed).program)


def _full(seed: int) -> str | None:
    return _text(schedules.program(seeded(seed), LIMITS))


def _expert(seed: int) -> str | None:
    return _text(expert(Random(f"same {seed}"))[0])


def _changed(change: Callable[[RandomCase], RandomCase | None], seed: int) -> str | None:
    """Return a legal case, as experts or ordinary authors write it, with more directives."""
    case = random_case(seed)
    if not _is_plain(case.program.directives) or not verdict(case).is_legal:
        return None
    made = change(case)
    return None if made is None else _text(made.program)


def _otherwise(seed: int) -> str | None:
    return _changed(launched_otherwise, seed)


def _panels(seed: int) -> str | None:
    return _changed(in_panels, seed)


def _swapped(seed: int) -> str | None:
    return _changed(swapped, seed)


@cache
def _whole() -> tuple[str, ...]:
    """Return the texts in which mistakes are made.

    The known algorithms come without their marks for a dtype or a size.
    """
    known = (re.sub(r"[@^]\w+", "", one) for one in KNOWN)
    return (*(text for _, text in files(FILES)), *(f"{one}\nf.compile();\n" for one in known))


def _mistaken(seed: int) -> str | None:
    """Return a text with one to four changed characters, tokens or lines."""
    random = Random(f"mistaken {seed}")
    text = mutated(seeded(random.randrange(2**40)), random.choice(_whole()))
    return text if _is_text(text) else None


def _is_text(text: str) -> bool:
    """True if a file can hold the text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _misplaced(seed: int) -> str | None:
    """Return a case in which one directive has the argument, Func or name of another one."""
    random = Random(f"misplaced {seed}")
    program = random.choice((cases.ordinary_case, cases.case))(seed).program
    directives = list(program.directives)
    if not directives:
        return None
    at, other = random.randrange(len(directives)), random.choice(directives)
    one = directives[at]
    match random.randrange(4):
        case 0:
            directives[at] = replace(one, func=other.func)
        case 1:
            directives[at] = replace(one, arguments=other.arguments)
        case 2:
            directives[at] = replace(one, name=random.choice(sorted(set(NAMES.values()))))
        case _:
            directives.append(other)
    return _text(replace(program, directives=tuple(directives)))


NUMBER = re.compile(r"(?<=[:/])\d+|(?<=warps\()\d+|(?<=stages\()\d+")


@cache
def _with(word: str) -> tuple[str, ...]:
    """Return the texts that have the directive."""
    texts = (*(text for _, text in files(FILES)), JOINED, ADDED)
    return tuple(text for text in texts if f".{word}(" in text)


def _varied(seed: int) -> str | None:
    """Return a text with a rare directive, and with one to three changed numbers.

    The numbers are those of blocks, tiles and options. The seeds take each directive in turn,
    because some are in one text only.
    """
    random = Random(f"varied {seed}")
    text = random.choice(_with(SELDOM[seed % len(SELDOM)]))
    for _ in range(random.randint(1, 3)):
        places = list(NUMBER.finditer(text, text.index(".")))
        one = random.choice(places)
        number = random.choice((int(one[0]) * 2, max(int(one[0]) // 2, 1)))
        text = f"{text[: one.start()]}{number}{text[one.end() :]}"
    return text


@cache
def _chains() -> tuple[str, ...]:
    """Return the texts that have a reduction in the loop of another one."""
    word = ".online("
    texts = (*(text for _, text in files(FILES)), *PRACTISED.values())
    return tuple(text for text in texts if word in text)


def _online(seed: int) -> str | None:
    """Return a chain of reductions in one loop, as people write them, with one changed number."""
    random = Random(f"online {seed}")
    text = _chains()[seed % len(_chains())]
    one = random.choice(list(NUMBER.finditer(text, text.index("."))) or [None])
    if one is None:
        return text
    number = random.choice((int(one[0]) * 2, max(int(one[0]) // 2, 1)))
    return f"{text[: one.start()]}{number}{text[one.end() :]}"


def _with_more(case: RandomCase, name: str, labels: Sequence[tuple[str, str]]) -> RandomCase | None:
    """Return a case with one more directive on one of some labels of Funcs."""
    if not labels:
        return None
    func, label = Random(f"{name} {case.seed}").choice(labels)
    more = Directive(func, name, (Argument(label),))
    program = replace(case.program, directives=(*case.program.directives, more))
    return replace(case, program=program)


def _descending(seed: int) -> str | None:
    def change(case: RandomCase) -> RandomCase | None:
        kernels = verdict(case).scheduled.kernels
        labels = [
            (one.func, axis.label) for one in kernels for axis in one.grid if one.name == one.func
        ]
        return _with_more(case, "descending", labels)

    return _changed(change, seed)


def _same_bits(seed: int) -> str | None:
    def change(case: RandomCase) -> RandomCase | None:
        funcs = [case.program.func(one.func) for one in verdict(case).scheduled.kernels[-1:]]
        return _with_more(case, "same_bits", [(f.name, one) for f in funcs for one in f.labels])

    return _changed(change, seed)


SOURCES: Mapping[str, Callable[[int], str | None]] = {
    "pairs": _pair,
    "cases": _case,
    "strange": _strange,
    "ordinary": _ordinary,
    "full": _full,
    "expert": _expert,
    "otherwise": _otherwise,
    "panels": _panels,
    "swapped": _swapped,
    "mistaken": _mistaken,
    "misplaced": _misplaced,
    "varied": _varied,
    "chains": _online,
    "descending": _descending,
    "same_bits": _same_bits,
    "specialized": specializing.random_product,
    "boxed": boxed.random_product,
    "shifted": random_shifted,
    "stencils": random_stencil,
}


def candidate(source: str, seed: int) -> Candidate | None:
    """Return the text of a source and a seed, or None if there is none or it is very long."""
    text = SOURCES[source](seed)
    if text is None or len(text) > MOST_CHARACTERS:
        return None
    return f"{source}/{seed}", text

"""An algorithm apart from any schedule and dtype, to be matched with the tensors of a kernel.

It comes from a .dt file, or from a function of torch that was traced.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dtpoly.algorithm.program import Program, Scalar
from dtpoly.algorithm.show import show
from dtpoly.frozen import dataclass

READ = r"\b{}\[([^\[\]]*)\]"
HALVES = ("f16", "bf16", "f8e4m3", "f8e5m2")
EXACT = "f32"
MOST_RANK = 3  # of the variants of an elementwise algorithm


@dataclass(frozen=True, slots=True)
class PlainInput:
    """An input with the labels of its axes."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlainFunc:
    """A Func with the labels of its axes, and the text of what it is."""

    name: str
    labels: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PlainAlgorithm:
    """Inputs and Funcs; the Funcs of `results` are what it is for, and others help to get there."""

    name: str
    inputs: tuple[PlainInput, ...]
    scalars: tuple[str, ...]
    funcs: tuple[PlainFunc, ...]
    results: tuple[str, ...]
    fixed: Mapping[str, int]
    # What a reader should know of where it comes from.
    notes: tuple[str, ...] = ()
    # What is taken for granted because it was so at one launch.
    guesses: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return all labels: those of Funcs and inputs."""
        of = [one.labels for one in self.funcs] + [one.labels for one in self.inputs]
        return tuple(dict.fromkeys(label for labels in of for label in labels))

    def func(self, name: str) -> PlainFunc:
        """Return a Func by its name."""
        return next(one for one in self.funcs if one.name == name)


@dataclass(frozen=True, slots=True)
class NotPlain:
    """Why a file has no algorithm that can be matched."""

    why: str


def plain_of(program: Program, name: str) -> PlainAlgorithm | NotPlain:
    """Return the algorithm of a file; its results are the Funcs that it compiles, or the last."""
    text = show(replace(program, directives=()))
    found: list[PlainFunc] = []
    for one in program.funcs:
        said = re.search(rf"^{one.name}\[([^\[\]]*)\] = (.*);$", text, re.MULTILINE)
        if said is None:
            return NotPlain(f"how '{one.name}' is defined is not read here")
        found.append(PlainFunc(one.name, _words(said[1]), said[2]))
    inputs: list[PlainInput] = []
    for given in program.inputs:
        if isinstance(given, Scalar):
            continue
        reads = {_words(one) for func in found for one in _reads(given.name, func.text)}
        plain = [one for one in reads if all(part.isidentifier() for part in one)]
        if not reads or len(plain) != len(reads):
            return NotPlain(f"'{given.name}' is not read by its labels alone")
        inputs.append(PlainInput(given.name, sorted(plain)[0]))
    scalars = tuple(one.name for one in program.inputs if isinstance(one, Scalar))
    return PlainAlgorithm(
        name,
        tuple(inputs),
        scalars,
        tuple(found),
        program.returned[:1] or (found[-1].name,),
        program.fixed,
    )


def variants(algorithm: PlainAlgorithm) -> Iterator[PlainAlgorithm]:
    """Yield an algorithm in the ways in which kernels compute it.

    A reciprocal root is one operation, or a division by a root. An elementwise algorithm may have
    more axes.
    """
    for one in _with_ranks(algorithm):
        yield one
        funcs = tuple(replace(func, text=_other_roots(func.text)) for func in one.funcs)
        if funcs != one.funcs:
            note = "Its reciprocal roots are written in the other of two ways."
            yield replace(one, funcs=funcs, notes=(*one.notes, note))


def with_numbers(algorithm: PlainAlgorithm, numbers: Mapping[str, str]) -> PlainAlgorithm:
    """Return an algorithm in which some scalars are numbers."""
    funcs = tuple(replace(one, text=_numbered(one.text, numbers)) for one in algorithm.funcs)
    scalars = tuple(one for one in algorithm.scalars if one not in numbers)
    return replace(algorithm, funcs=funcs, scalars=scalars)


def _numbered(text: str, numbers: Mapping[str, str]) -> str:
    for name, number in numbers.items():
        text = re.sub(rf"\b{name}\b(?!\[)", number, text)
    return text


def _other_roots(text: str) -> str:
    """Return a text with `rsqrt(e)` for each `1 / sqrt(e)`, or the other way round."""
    if "1 / sqrt(" in text:
        return text.replace("1 / sqrt(", "rsqrt(")
    start = text.find("rsqrt(")
    while start >= 0:
        end, depth = start + len("rsqrt("), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = f"{text[:start]}(1 / {text[start + 1 : end]}){text[end:]}"
        start = text.find("rsqrt(")
    return text


def _with_ranks(algorithm: PlainAlgorithm) -> Iterator[PlainAlgorithm]:
    yield algorithm
    if len(algorithm.labels) != 1 or any(not one.labels for one in algorithm.inputs):
        return
    (label,) = algorithm.labels
    for rank in range(2, MOST_RANK + 1):
        labels = (label, *(f"{label}{at}" for at in range(1, rank)))
        inside = f"[{', '.join(labels)}]"
        yield replace(
            algorithm,
            inputs=tuple(PlainInput(one.name, labels) for one in algorithm.inputs),
            funcs=tuple(
                PlainFunc(one.name, labels, one.text.replace(f"[{label}]", inside))
                for one in algorithm.funcs
            ),
        )


def algorithm_text(
    algorithm: PlainAlgorithm,
    dtypes: Mapping[str, str],
    stored: Sequence[str],
    into: Mapping[str, str],
    scalars: Mapping[str, str],
    others: Mapping[str, str],
) -> str:
    """Return the text of an algorithm for the tensors of a kernel.

    `dtypes` are those of inputs and of the Funcs in `stored`; `into` says into which input a Func
    goes; `scalars` and `others` are further numbers and tensors that the launch passes. What is
    narrower than f32 is computed in f32, as kernels do.
    """
    lines = [
        f"Func {one.name}{_of(dtypes.get(one.name) if one.name in stored else None)}"
        f"{f' into {into[one.name]}' if one.name in into else ''};"
        for one in algorithm.funcs
    ]
    lines += [f"In {one.name}{_of(dtypes.get(one.name))};" for one in algorithm.inputs]
    lines += [f"In {name}{_of(dtype)};" for name, dtype in others.items()]
    lines += [f"SIn {name}{_of(dtype)};" for name, dtype in scalars.items()]
    free = [one for one in algorithm.labels if one not in algorithm.fixed]
    sized = [f"{one}: {size}" for one, size in algorithm.fixed.items()]
    lines.append(f"RVar {', '.join([*free, *sized])};")
    for one in algorithm.funcs:
        text = one.text
        for given in algorithm.inputs:
            if dtypes.get(given.name) in HALVES:
                text = re.sub(READ.format(given.name), rf"cast({given.name}[\1], {EXACT})", text)
        for func in algorithm.funcs:
            if func.name in stored and dtypes.get(func.name) in HALVES:
                text = re.sub(READ.format(func.name), rf"cast({func.name}[\1], {EXACT})", text)
        dtype = dtypes.get(one.name)
        if one.name in stored and dtype not in (None, EXACT):
            text = f"cast({text}, {dtype})"
        lines.append(f"{one.name}[{', '.join(one.labels)}] = {text};")
    root, *more = sorted(stored, key=[one.name for one in algorithm.funcs].index, reverse=True)
    lines.append(f"{root}.compile({', '.join(more)});")
    return "\n".join([*lines, ""])


def _of(dtype: str | None) -> str:
    return "" if dtype is None else f": {dtype}"


def _reads(name: str, text: str) -> list[str]:
    return [str(one) for one in re.findall(READ.format(name), text)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))

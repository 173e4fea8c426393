"""Compares the layouts in which variants of a kernel put the lanes of a tile together.

Triton compiles a kernel anew for what it takes for constants: sizes that are 1 or multiples of 16,
aligned addresses, 32- or 64-bit offsets, and the flags of a launch. How a sum or a product groups
lanes follows from the layouts of its operands. This compiles the variants that calls with other
sizes of one label have, and reads these layouts in Triton's IR for GPUs. It needs no GPU, but
triton, which must not have been told to interpret kernels.

It is run as a process of its own: it reads a JSON object with the text of a .dt file, the label,
the target and the dtype, and writes one with what it found.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import check
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.generate import Code, code_of
from dtpoly.runtime.load import load_module
from dtpoly.schedule.state import State
from dtpoly.source import Source
from dtpoly.targets.compiled_kernels import compile_kernel
from dtpoly.targets.kernel_binary import Failed
from dtpoly.targets.subject import Subject, subjects
from dtpoly.targets.target import Target, parse_target

IR = "ttgir"
# Sizes of the label that differs: Triton takes 1 for a constant, and knows multiples of 16.
BATCHES = (48, 1, 17)
# Those of the others, which are the same in all variants that are compared.
OTHERS = (1024, 1023)
APART = ", addresses that are not aligned"
MOST_BITS = 31  # so many elements have offsets of 64 bits
TOGETHER = re.compile(
    r'"?(tt\.reduce|tt\.scan|tt\.dot|ttng\.warp_group_dot|amdg?\.\w*dot\w*)"?(?![\w.])'
)
ALIAS = re.compile(r"^(#\w+) = (#.*)$", re.MULTILINE)
PLACE = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
USED = re.compile(r"loc\((#loc\d*)\)\s*$")
FILE_LINE = re.compile(r'"([^"]*)":(\d+):\d+')
TRITON = "triton/language"  # where functions of Triton itself stand
NAMED = re.compile(r"#loc\d*")

Layouts = Mapping[int, frozenset[str]]  # by line of the kernels


@dataclass(frozen=True, slots=True)
class KernelVariant:
    """A variant of a kernel: what it is compiled for, in words, and its layouts."""

    kernel: str
    what: str
    layouts: Layouts


@dataclass(frozen=True, slots=True)
class TwoLayouts:
    """Two variants of a kernel that put the lanes of a tile together in other layouts."""

    kernel: str
    line: int
    first: str
    second: str
    variants: tuple[str, str]


def layouts_in(text: str) -> Layouts:
    """Return the layouts of all operations in Triton's IR that put lanes together, by line."""
    aliases = dict(ALIAS.findall(text))
    places = dict(PLACE.findall(text))
    found: dict[int, set[str]] = {}
    waiting: list[str] = []
    for line in text.splitlines():
        begun = TOGETHER.search(line)
        is_region = begun is not None and line.rstrip().endswith("({")
        if begun is not None and is_region:
            waiting.append(begun[1])
            continue
        word = None
        if begun is not None:
            word = begun[1]
        elif waiting and line.strip().startswith("})"):
            word = waiting.pop()
        used = USED.search(line)
        if word is None or used is None:
            continue
        number = _line_of(places, used[1])
        types = line.rpartition(" loc(")[0].partition(" : ")[2]
        found.setdefault(number, set()).add(f"{word} {_resolved(types, aliases)}")
    return {line: frozenset(layouts) for line, layouts in found.items()}


def _resolved(types: str, aliases: Mapping[str, str]) -> str:
    """Write the layouts that stand behind names."""
    for _ in range(4):
        types = re.sub(r"#\w+\b(?![.<])", lambda one: aliases.get(one[0], one[0]), types)
    return types


def _line_of(places: Mapping[str, str], place: str) -> int:
    """Return the line of the kernel, which is where functions of Triton were called."""
    text, lines = places.get(place, ""), list[int]()
    for _ in range(16):
        lines += [int(line) for path, line in FILE_LINE.findall(text) if TRITON not in path]
        names = NAMED.findall(text)
        if not names:
            break
        text = " ".join(places.get(one, "") for one in names)
    return lines[-1] if lines else 0


def first_difference(variants: list[KernelVariant]) -> TwoLayouts | None:
    """Return two variants in which one line has other layouts; None if there are none."""
    for at, one in enumerate(variants):
        for other in variants[at + 1 :]:
            if one.kernel != other.kernel:
                continue
            for line in sorted({*one.layouts} & {*other.layouts}):
                if one.layouts[line] != other.layouts[line]:
                    texts = ["; ".join(sorted(of.layouts[line])) for of in (one, other)]
                    words = one.what, other.what
                    return TwoLayouts(one.kernel, line, texts[0], texts[1], words)
    return None


def variants_of(
    state: State, code: Code, label: str, target: Target, dtype: DType, other: int
) -> Iterator[KernelVariant]:
    """Compile all kernels for calls that differ in the size of a label. Raises Failed."""
    module = load_module(code.text, "layouts")
    fixed = {one.name for one in state.program.labels if one.size is not None}
    others = {one.name: other for one in state.program.labels if one.name not in {*fixed, label}}
    large = 2**MOST_BITS // other + 1
    for size in (*BATCHES, large):
        sizes = {**others, **({} if label in fixed else {label: size})}
        for subject in subjects(state, code.stages, sizes, dtype):
            for what, mine in _alignments(subject):
                launches = zip(code.stages.launches, code.stages.kernels, strict=True)
                launch = next(one for one, kernel in launches if kernel.name == mine.kernel.name)
                asked = (launch.num_warps, launch.num_stages)
                made = compile_kernel(module, mine.kernel, mine.arguments.values(), target, *asked)
                text = made.stages.get(IR, "")
                assert isinstance(text, str)
                said = f"{', '.join(f'{x} = {n}' for x, n in sizes.items())}{what}"
                yield KernelVariant(made.kernel, said, layouts_in(text))


def _alignments(subject: Subject) -> Iterator[tuple[str, Subject]]:
    """Yield a kernel as it is launched, and with addresses of which nothing is known."""
    yield "", subject
    if subject.kernel.described:
        return  # descriptors are made of aligned memory alone
    apart = {
        name: replace(one, is_aligned=False) if one.type.startswith("*") else one
        for name, one in subject.arguments.items()
    }
    yield APART, replace(subject, arguments=apart)


def answer(asked: Mapping[str, str]) -> dict[str, Any]:
    """Return what is known of the layouts of a .dt text."""
    checked = check(Source("layouts.dt", asked["text"]))
    assert checked.verdict is not None
    state, target = checked.verdict.scheduled, parse_target(asked["target"])
    code, count = code_of(state), 0
    by_address: TwoLayouts | None = None
    try:
        for other in OTHERS:
            given = (asked["label"], target, DType(asked["dtype"]), other)
            variants = list(variants_of(state, code, *given))
            count += len(variants)
            # What differs with all memory aligned differs by the size of the batch alone.
            aligned = [one for one in variants if not one.what.endswith(APART)]
            found = first_difference(aligned)
            if found is not None:
                return _data(count, found)
            by_address = by_address or first_difference(variants)
    except (Failed, DtpolyError, OSError) as error:
        return _data(count, None, str(error))
    return _data(count, by_address, is_by_address=by_address is not None)


def _data(
    count: int, found: TwoLayouts | None, failed: str = "", *, is_by_address: bool = False
) -> dict[str, Any]:
    return {
        "variants": count,
        "different": None if found is None else asdict(found),
        "by_address": is_by_address,
        "failed": failed or None,
    }


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)

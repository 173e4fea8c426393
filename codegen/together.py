"""Combines two kernels into one that computes both in a single launch.

The directive `beside` asks for it. Each kernel stays a function of its own, which the launched
kernel calls. The first programs of the launch run the first kernel. The programs after them run the
second one, which counts its programs from there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import BEFORE, FOURS, OFFSET, Pointer, TileKernel
from dtpoly.plan.launch import Launch

from .building import Unsupported
from .kernel_parameters import head_lines, names
from .python_layout import call, inside
from .python_names import fresh, pointer, strides

T = TypeVar("T")
# A thing that both kernels may be given: a tensor, a size, ... A name stands for one of them only.
Thing = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """The launch of two kernels: a kernel without a body, and what it passes to each of them."""

    kernel: TileKernel
    parts: tuple[TileKernel, TileKernel]
    given: tuple[tuple[str, ...], tuple[str, ...]]


def pairs_of(
    called: Sequence[str], launches: Sequence[Launch], kernels: Sequence[TileKernel]
) -> dict[str, Together]:
    """Make what is launched for two kernels, by the name of the second. Raises Unsupported."""
    found: dict[str, Together] = {}
    seconds = [at for at, launch in enumerate(launches) if launch.beside]
    for name, at in zip(called, seconds, strict=True):
        one, other = launches[at - 1], launches[at]
        if one.name != other.beside or one.beside:
            raise Unsupported("a launch is of two kernels: say beside once for each of them")
        options = [(launch.num_warps, launch.num_stages) for launch in (one, other)]
        if options[0] != options[1]:
            raise Unsupported(
                f"'{one.name}' and '{other.name}' share a launch, which has one num_warps and one "
                "num_stages: say the same for both"
            )
        said = f"{other.func}.beside({one.func});"
        found[kernels[at].name] = together(name, kernels[at - 1], kernels[at], said)
    return found


def together(name: str, first: TileKernel, second: TileKernel, comment: str) -> Together:
    """Return one launch for two kernels. Raises Unsupported where one wants a launch of its own."""
    parts = first, second
    for one in parts:
        if (why := _own_launch(one)) is not None:
            raise Unsupported(f"'{one.name}' shares its launch with another kernel, and {why}")
    known = {_element(one): one for part in parts for one, _ in part.elements}
    words = [_words(one, known) for one in parts]
    renamed = [_renamed(one, known, own) for one, own in zip(parts, words, strict=True)]
    merged = TileKernel(
        name=name,
        tensors=_tensors(renamed),
        scalars=_each(one.scalars for one in renamed),
        sizes=_each(one.sizes for one in renamed),
        shapes=_each(one.shapes for one in renamed),
        counts=_each(one.counts for one in renamed),
        flags=_each(one.flags for one in renamed),
        elements=_each(one.elements for one in renamed),
        grid=(),
        body=(),
        comment=(comment,),
        lined=_each(one.lined for one in renamed),
        fours=_each(one.fours for one in renamed),
        is_beside=True,
    )
    given = [
        tuple(own[word] for word in names(part)) for part, own in zip(parts, words, strict=True)
    ]
    return Together(merged, parts, (given[0], given[1]))


def together_lines(one: Together) -> list[str]:
    """Return the kernel that is launched."""
    calls = [
        inside(call(f"{part.name}_kernel", given, indent=8))
        for part, given in zip(one.parts, one.given, strict=True)
    ]
    body = [f"if tl.program_id(0) < {BEFORE}:", *calls[0], "else:", *calls[1]]
    comment = [f"# {text}" for text in one.kernel.comment]
    head = [line.text for line in head_lines(one.kernel)]
    return [*head, *inside([*comment, *body])]


def _own_launch(kernel: TileKernel) -> str | None:
    """Return why a kernel must have a launch to itself."""
    if kernel.each:
        return "its programs take blocks in turn: remove persistent"
    if kernel.is_first_of_panel or kernel.is_last_of_panel:
        return "is the first or the last one of a panel: remove beside, or panels"
    if kernel.is_early:
        return "begins early: remove early"
    if kernel.described:
        return "loads or stores through descriptors: remove descriptor"
    if any(tensor.is_scratch for tensor in kernel.tensors):
        return "has memory for each of its programs: tensorize so that values stay in registers"
    return None


def _element(name: str) -> Thing:
    return "element", name


def _words(kernel: TileKernel, known: dict[Thing, str]) -> dict[str, str]:
    """Map each parameter of a kernel to its name in the kernel that is launched; `known` grows."""
    words = dict.fromkeys((BEFORE, FOURS, OFFSET))
    made = {word: word for word in words}
    for thing, wish in _things(kernel):
        if thing not in known:
            taken = {*known.values(), *words}
            known[thing] = fresh(wish, taken) if wish in taken else wish
        made[wish] = known[thing]
    for tensor in kernel.tensors:
        own = (pointer(tensor), *strides(tensor))
        other = _tensor(tensor, known)
        made |= zip(own, (pointer(other), *strides(other)), strict=True)
    return made


def _things(kernel: TileKernel) -> Iterator[tuple[Thing, str]]:
    """List what a kernel is given besides tensors, and by which name it knows each."""
    sizes = {variable: param for param, variable in kernel.sizes}
    yield from ((("size", param), variable) for param, variable in kernel.sizes)
    yield from ((("scalar", name), variable) for name, variable, _ in kernel.scalars)
    yield from ((("shape", tensor, axis), name) for tensor, axis, name in kernel.shapes)
    yield from ((("count", sizes[size]), name) for name, size in kernel.counts)
    yield from ((("flag",), flag.name) for flag in kernel.flags[:1])  # all have one name
    yield from ((_element(name), name) for name, _ in kernel.elements)


def _tensor(tensor: Pointer, known: dict[Thing, str]) -> Pointer:
    """Rename a tensor to its name in the kernel that is launched.

    No other parameter ends as a tensor's parameters do, so that only tensors can clash.
    """
    thing: Thing = ("tensor", tensor.name)
    if thing not in known:
        taken = {name for one, name in known.items() if one[0] == thing[0]}
        wish = tensor.variable
        known[thing] = fresh(wish, taken) if wish in taken else wish
    return replace(tensor, variable=known[thing])


def _renamed(kernel: TileKernel, known: dict[Thing, str], words: dict[str, str]) -> TileKernel:
    """Return the kernel, with parameters by their names in the one that is launched."""
    return replace(
        kernel,
        tensors=tuple(_tensor(one, known) for one in kernel.tensors),
        scalars=tuple((name, words[own], element) for name, own, element in kernel.scalars),
        sizes=tuple((param, words[own]) for param, own in kernel.sizes),
        shapes=tuple((tensor, axis, words[own]) for tensor, axis, own in kernel.shapes),
        counts=tuple((words[own], words[size]) for own, size in kernel.counts),
        flags=tuple(replace(f, name=words[f.name], size=words[f.size]) for f in kernel.flags),
        fours=tuple(replace(row, variable=words[row.variable]) for row in kernel.fours),
    )


def _tensors(kernels: list[TileKernel]) -> tuple[Pointer, ...]:
    """Collect the tensors of all kernels, each once; written, if one of the kernels writes it."""
    found: dict[str, Pointer] = {}
    for one in (tensor for kernel in kernels for tensor in kernel.tensors):
        written = one.is_written or (one.name in found and found[one.name].is_written)
        found[one.name] = replace(one, is_written=written)
    return tuple(found.values())


def _each(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    """Collect the entries of all parts, each once."""
    return tuple(dict.fromkeys(one for part in parts for one in part))

"""Computes addresses and values that a loop does not change before that loop.

Addresses: `A_at_m = A_ptr + m * A_stride_0` before a loop over k, and `A_at_m[:, None] + ...`
inside of it. Values: those that are computed from nothing that the loop sets. Neither computation
can fail, and neither looks at memory. So both may be done before a loop that runs zero times.
"""

from collections.abc import Iterator
from dataclasses import field, replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Address,
    Base,
    ForLoop,
    If,
    Instruction,
    Let,
    Load,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.parts import assigned, mapped, needed, walk, with_values
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    IndexValue,
    LiteralNumber,
    Masked,
    Merged,
    Value,
    Variable,
    axes_of,
)
from dtpoly.ir.tiled import parts_of, with_parts

from .operation_spelling import is_float_element
from .python_names import fresh

# Operations of whole numbers that have no result for some operands.
PARTIAL = frozenset({"div", "fdiv", "mod", "cdiv", "div_rn"})


@dataclass(slots=True)
class OpenBlock:
    """A block while it is being read, with what was computed in it for loops inside."""

    is_loop: bool
    assigned: frozenset[str]  # in it, or in blocks inside
    done: list[Step] = field(default_factory=list[Step])
    bases: dict[tuple[str, tuple[tuple[int, Affine], ...]], Base] = field(
        default_factory=dict[tuple[str, tuple[tuple[int, Affine], ...]], Base]
    )
    # By their text: to Python, 0.0 and -0.0 are equal.
    values: dict[str, tuple[frozenset[str], Variable]] = field(
        default_factory=dict[str, tuple[frozenset[str], Variable]]
    )

    def forget(self, names: frozenset[str]) -> None:
        """Drop what was computed from names that mean something else now."""
        for place in [k for k in self.bases if names & {n for _, i in k[1] for n in i.labels}]:
            del self.bases[place]
        for key in [k for k, (used, _) in self.values.items() if names & used]:
            del self.values[key]


@dataclass(slots=True)
class Hoisting:
    """The blocks that are open, outermost first, and all names of the kernel."""

    open: list[OpenBlock]
    taken: set[str]

    def level(self, names: Iterator[str]) -> int:
        """Return the innermost block in which one of the names is set; 0 for the kernel."""
        found = set(names)
        return max((i for i, b in enumerate(self.open) if found & b.assigned), default=0)

    def is_before_loop(self, level: int) -> bool:
        """Return whether a block is outside of a loop that is open."""
        return any(block.is_loop for block in self.open[level + 1 :])

    def name(self, wish: str) -> str:
        """Return a name that nothing in the kernel has."""
        name = fresh(wish, self.taken)
        self.taken.add(name)
        return name


def hoisted(body: tuple[Step, ...], taken: frozenset[str]) -> tuple[Step, ...]:
    """Return the body; `taken` are the names of its parameters."""
    own = frozenset(assigned(body))
    hoisting = Hoisting([OpenBlock(False, own)], {*taken, *own})
    return _block(hoisting, body)


def _block(hoisting: Hoisting, body: tuple[Step, ...]) -> tuple[Step, ...]:
    here = hoisting.open[-1]
    for step in body:
        if isinstance(step.instruction, TiledLoop):
            loop, rest = (_step(hoisting, part) for part in parts_of(step))
            here.done.append(with_parts(step, loop, rest))
        else:
            here.done.append(_step(hoisting, step))
    return tuple(here.done)


def _step(hoisting: Hoisting, step: Step) -> Step:
    changed = _instruction(hoisting, step.instruction, step.origin)
    # What was computed from a name that the instruction sets does not hold for its new value.
    set_now = frozenset(assigned((step,)))
    for block in hoisting.open:
        block.forget(set_now)
    return replace(step, instruction=changed)


def _instruction(hoisting: Hoisting, one: Instruction, origin: str) -> Instruction:
    one = with_values(one, lambda value, axes: _fixed(hoisting, value, axes, origin))
    match one:
        case ForLoop(body=body) | If(body=body):
            own = frozenset(assigned((Step(one, ""),)))
            hoisting.open.append(OpenBlock(isinstance(one, ForLoop), own))
            inner = _block(hoisting, body)
            hoisting.open.pop()
            return replace(one, body=inner)
        case (
            Load(tensor=tensor, indices=indices, axes=axes, taken=())
            | Store(tensor=tensor, indices=indices, axes=axes, taken=())
        ):  # what is taken is no lane, and an address is laid out along lanes
            return replace(one, base=_base(hoisting, tensor, indices, axes, origin))
        case _:
            return one


# Addresses


def _base(
    hoisting: Hoisting, tensor: str, indices: tuple[Affine, ...], axes: Axes, origin: str
) -> Base | None:
    """Give the address for those indices that are known before a loop, and compute it there."""
    here = len(hoisting.open) - 1
    if (known := _known(hoisting, tensor, indices)) is not None:
        return known
    levels = [hoisting.level(iter(index.labels)) for index in indices]
    included: tuple[int, ...] = ()
    base: Base | None = None
    for level in sorted(set(levels)):
        new = tuple(at for at, its in enumerate(levels) if its == level and indices[at] != Affine())
        if level == here or not new:
            continue
        included = (*included, *new)
        key = (tensor, tuple((at, indices[at]) for at in included))
        block = hoisting.open[level]
        if key not in block.bases:
            if not hoisting.is_before_loop(level):
                continue
            names = dict.fromkeys(n for at in sorted(included) for n in indices[at].labels)
            word = tensor.removesuffix("_scratch")
            name = hoisting.name("_".join((word, "at", *(names or ("fixed",)))))
            own = tuple(axis for axis in axes if axis in names)
            block.bases[key] = Base(name, own, included)
            step = Address(name, tensor, indices, new, own, base)
            block.done.append(Step(step, origin))
        base = block.bases[key]
    return base


def _known(hoisting: Hoisting, tensor: str, indices: tuple[Affine, ...]) -> Base | None:
    """Find an address that was computed before, if no loop begins between it and here."""
    found: Base | None = None
    for level, block in enumerate(hoisting.open):
        for (name, included), base in block.bases.items():
            is_part = name == tensor and all(indices[at] == index for at, index in included)
            if is_part and not hoisting.is_before_loop(level):
                found = (
                    base if found is None or len(base.included) >= len(found.included) else found
                )
    return found


# Values


def _fixed(hoisting: Hoisting, value: Value, axes: Axes, origin: str) -> Value:
    """Return the value, with the parts of it computed before that no loop changes."""
    block = hoisting.open[level := hoisting.level(needed(value))]
    own = tuple(axis for axis in axes if axis in axes_of(value))
    key = repr((value, own))
    if key not in block.values:
        if not _is_worth_a_name(value) or not hoisting.is_before_loop(level):
            return mapped(value, lambda part: _fixed(hoisting, part, axes, origin))
        assert not isinstance(value, LiteralNumber | IndexValue)
        known = Variable(hoisting.name(_wish(value)), own, value.dtype)
        block.values[key] = (frozenset(needed(value)), known)
        block.done.append(Step(Let(known.name, value, own), origin))
    return block.values[key][1]


def _is_worth_a_name(value: Value) -> bool:
    """Return whether it is work, and work that can be done at any time."""
    match value:
        case Call(operands=operands, operation=operation):
            is_safe = operation not in PARTIAL or is_float_element(value.dtype)
            return is_safe and any(_is_varied(one) for one in operands) and are_total(operands)
        case Converted(value=inner):
            return bool(value.axes) and _is_varied(inner) and are_total((inner,))
        case Masked(value=inner):
            return are_total((inner,))
        case Merged(left=left, right=right):
            return are_total((left, right))
        case _:
            return False


def _is_varied(value: Value) -> bool:
    """Return whether it is more than a number that is written in the text."""
    match value:
        case LiteralNumber():
            return False
        case Converted(value=inner):
            return _is_varied(inner)
        case _:
            return True


def are_total(values: tuple[Value, ...]) -> bool:
    """Return whether values can be computed whatever they are made of."""
    parts = (part for value in values for part in walk(value))
    return not any(
        isinstance(p, Call) and p.operation in PARTIAL and not is_float_element(p.dtype)
        for p in parts
    )


def _wish(value: Value) -> str:
    """Suggest a name as a person might: by the operation, or by what the value is made of."""
    kind = "tile" if axes_of(value) else "value"
    match value:
        case Call(operation=operation):
            return f"{operation}_{kind}"
        case Converted(value=Variable(name=name)) | Masked(value=Variable(name=name)):
            return name if name.endswith(f"_{kind}") else f"{name}_{kind}"
        case Converted(value=inner) | Masked(value=inner):
            return _wish(inner)
        case _:
            return f"fixed_{kind}"

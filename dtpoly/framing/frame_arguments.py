"""Writes what a launch gives each parameter, as a line for the verifier says it."""

import json
from collections.abc import Iterator, Mapping, Sequence

from dtpoly.framing.launch_groups import STRIDE, LaunchGroup, Row, times
from dtpoly.framing.size_formulas import SizeFormula, formulas_of
from dtpoly.framing.tensor_axes import AxesChoice, LabelledTensor, facts_of
from dtpoly.frozen import dataclass
from dtpoly.watching.launch_record import WatchedWord

# How the strides of tensors are passed: as those of the tensor, whatever they are; the same, but
# with 1 where they are 1; or as the sizes that they are made of in a contiguous tensor.
STRIDES, UNITS, SIZES = "strides", "units", "sizes"
MODES = (STRIDES, UNITS, SIZES)
# The dtypes of Triton by the names that they give themselves.
TRITON_TYPES = {
    "fp64": "float64",
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp8e4nv": "float8e4nv",
    "fp8e5": "float8e5",
    **{name: name for name in ("int1", "int8", "int16", "int32", "int64", "uint8", "uint16")},
    **{name: name for name in ("uint32", "uint64")},
}
AS_STRIDE = 1.0
POWER = "next_power_of_2("


@dataclass(frozen=True, slots=True)
class ArgumentSite:
    """A parameter, or an axis of the grid, with all formulas that fit; the first one is taken."""

    about: str
    formulas: tuple[SizeFormula, ...]
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class CannotFrame:
    """Why there is no frame: what a parameter is given cannot be written."""

    parameter: str
    why: str


def number_site(group: LaunchGroup, choice: AxesChoice, name: str, mode: str) -> ArgumentSite:
    """Return what a whole number may be that a parameter is given."""
    row = group.numbers[name]
    facts = facts_of(group, choice.labels)
    formulas = list(formulas_of(row, facts, is_constant=name in group.constants))
    if name in group.constants and name not in group.tiled:
        # What is no number of lanes needs no power of 2, though the sizes of heads often are some.
        formulas.sort(key=lambda one: POWER in one.text)
    strides = _strides(group, choice, name, row)
    is_named = group.is_stride(name)
    if strides and (name not in group.constants or not formulas):
        best = strides[0]
        is_needed = not formulas or not _tensor(choice, best.labels[0]).is_dense
        is_unit = set(row) == {1}
        if (
            is_needed
            or (is_named and mode == STRIDES)
            or (is_named and mode == UNITS and not is_unit)
        ):
            formulas = [*strides[:1], *formulas]
        elif is_named and not is_unit:
            formulas += strides[:1]
    return ArgumentSite(f"'{name}'", tuple(formulas), name in group.constants)


def fixed_text(group: LaunchGroup, name: str, *, is_float: bool) -> str | CannotFrame:
    """Return what a parameter is given that is no tensor and no whole number.

    A float is one that callers choose, unless `is_float` says that it is that number. Of a float
    that launches chose in several ways nothing else can be said.
    """
    match group.fixed[name]:
        case bool() | None as value:
            return str(value)
        case WatchedWord(kind="text", text=text):
            return json.dumps(text)
        case WatchedWord(kind="type", text=text) if (
            text.rpartition(".")[2] in TRITON_TYPES.values()
        ):
            return f"tl.{text.rpartition('.')[2]}"
        case WatchedWord(kind="type", text=text) if text in TRITON_TYPES:
            return f"tl.{TRITON_TYPES[text]}"
        case WatchedWord(text=text):
            return CannotFrame(name, f"it is given a '{text}', which no line can say")
        case float() if group.scalars is not None and name in group.scalars:
            return group.scalars[name]
        case float() if name in group.varying:
            return name
        case float() as value if is_float or name in group.constants or group.scalars is not None:
            return repr(value)
        case _:
            return name


def _strides(
    group: LaunchGroup, choice: AxesChoice, name: str, row: Row
) -> tuple[SizeFormula, ...]:
    """Return the strides that a number may be, of the tensor first that is passed before it."""
    order = list(group.parameters)
    at = order.index(name)
    found: list[tuple[tuple[bool, bool, int, int], SizeFormula]] = []
    for one in choice.tensors:
        for axis, seen in enumerate(one.axes):
            if seen.strides != row:
                continue
            places = [order.index(parameter) for parameter in one.tensor.parameters]
            before = min((at - place for place in places if place < at), default=len(order))
            is_alike = any(_is_alike(parameter, name) for parameter in one.tensor.parameters)
            text = f"{one.tensor.name}.stride({axis})"
            formula = SizeFormula(text, AS_STRIDE, (one.tensor.name,))
            is_own = group.strided.get(name) == one.tensor.name
            found.append(((not is_own, not is_alike, before, axis), formula))
    return tuple(formula for _, formula in sorted(found, key=lambda pair: pair[0]))


def _is_alike(parameter: str, stride: str) -> bool:
    """Return whether the name of a stride has that of a tensor in it, as `stride_am` has `a`."""
    word = parameter.lower().removesuffix("_ptr").removesuffix("ptr").strip("_")
    parts = [one for one in stride.lower().split("_") if one and one != STRIDE]
    whole = stride.lower().replace(f"_{STRIDE}", "").replace(f"{STRIDE}_", "").strip("_")
    return bool(word) and (
        whole.startswith(word)
        or any(one.startswith(word) and len(one) <= len(word) + 1 for one in parts)
    )


def _tensor(choice: AxesChoice, name: str) -> LabelledTensor:
    return next(one for one in choice.tensors if one.tensor.name == name)


def unsaid_strides(
    choice: AxesChoice, texts: Mapping[str, str]
) -> Iterator[tuple[LabelledTensor, int, bool]]:
    """Yield each axis whose stride no argument is, and whether it is that of a contiguous tensor.

    The frame takes such a stride as that of a contiguous tensor, whatever it was.
    """
    said = set(texts.values())
    for one in choice.tensors:
        inner = tuple(1 for _ in one.axes[0].sizes) if one.axes else ()
        for at in reversed(range(len(one.axes))):
            axis = one.axes[at]
            if f"{one.tensor.name}.stride({at})" not in said:
                yield one, at, axis.strides == inner
            inner = times(inner, axis.sizes)


def scalars_of(group: LaunchGroup, texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the numbers that callers choose, with their dtypes."""
    found: list[tuple[str, str]] = []
    for name, text in texts.items():
        if group.scalars is not None and name in group.scalars:
            found.append((text, "f32"))
        elif text == name and name in group.fixed:
            found.append((name, "f32"))
        elif text == name and name in group.numbers:
            most = max(map(abs, group.numbers[name]))
            found.append((name, "i32" if most < 2**31 else "i64"))
    return tuple(found)


def in_order(parameters: Sequence[str], constants: Sequence[str]) -> tuple[str, ...]:
    """Return the parameters that are given by name: the first constant and all behind it."""
    first = next((at for at, one in enumerate(parameters) if one in constants), len(parameters))
    return tuple(parameters[first:])

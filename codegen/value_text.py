"""Prints values, conditions and bounds of the kernel IR as Triton text."""

from collections.abc import Sequence
from math import isinf, isnan
from typing import assert_never

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine, DividedIndex, division
from dtpoly.algorithm.index_ends import is_natural
from dtpoly.algorithm.inference import LARGEST
from dtpoly.frozen import dataclass
from dtpoly.ir.bound_widths import LARGE, WIDE
from dtpoly.ir.kinds import Element, Named
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    Holds,
    IndexValue,
    LiteralNumber,
    Masked,
    Merged,
    Test,
    Value,
    Variable,
)
from dtpoly.poly.loops import Bound, Chosen, Combined, Condition, OneOfWays

from .building import Unsupported
from .operation_spelling import (
    DTYPES,
    INFIX,
    JOIN,
    OWN,
    PLAIN,
    PREFIX,
    ROUNDS,
    TEXTS,
    function,
    is_float_element,
    is_operator,
)
from .python_names import address, stride
from .widths import is_large

COMPARISON, OR, AND, SUM, PRODUCT, SIGN, ATOM = 1, 2, 4, 6, 7, 8, 9

Text = tuple[str, int]  # and how tightly it binds


@dataclass(frozen=True, slots=True)
class Signed:
    """The text of a number, apart from the sign that it begins with, and how tightly it binds."""

    is_minus: bool
    rest: str
    level: int

    @property
    def text(self) -> str:
        """Return the text with its sign."""
        return f"-{self.rest}" if self.is_minus else self.rest

    def within(self, least: int) -> "Signed":
        """Return the text in brackets, unless it binds as tightly as what is around it."""
        return self if self.level >= least else Signed(False, f"({self.text})", ATOM)


ZERO = Signed(False, "0", ATOM)


def dtype(element: Element) -> str:
    """Return a type, or the parameter that holds it."""
    return element.name if isinstance(element, Named) else DTYPES[element]


def bound_text(value: Bound) -> str:
    """Return a bound of a loop."""
    return signed_bound(value).text


def signed_bound(value: Bound) -> Signed:
    """Return a bound as it is printed."""
    if isinstance(value, Affine):
        return signed_affine(value, ())
    if isinstance(value, Chosen):
        test = " and ".join(map(compared_text, value.conditions))
        text = f"tl.where({test}, {bound_text(value.left)}, {bound_text(value.right)})"
        return Signed(False, text, ATOM)
    if value.operation == WIDE:
        return Signed(False, f"tl.cast({bound_text(value.operands[0])}, offset)", ATOM)
    if value.operation == LARGE:
        (inner,) = value.operands
        if isinstance(inner, Combined) and inner.operation == LARGE:
            return signed_bound(inner)
        if isinstance(inner, Affine):
            return signed_affine(inner, (), "tl.int64")
        return Signed(False, f"tl.cast({bound_text(inner)}, tl.int64)", ATOM)
    return _combined(value.operation, tuple(map(signed_bound, value.operands)))


def _combined(operation: str, parts: tuple[Signed, ...]) -> Signed:
    """Return an operation on bounds that are printed already."""
    first, *others = parts
    match operation:
        case "min" | "max":
            if not others:
                return Signed(first.is_minus, first.rest, ATOM)
            text = first.text
            for part in others:
                text = f"{operation}({text}, {part.text})"
            return Signed(False, text, ATOM)
        case "-" if first == ZERO:
            return Signed(True, others[0].within(SIGN).text, SUM)
        case "+" if first.is_minus:
            second = others[0]
            return Signed(second.is_minus, f"{second.rest} - {first.rest}", SUM)
        case "+" | "-":
            right = others[0].within(SUM + 1)
            return Signed(first.is_minus, f"{first.rest} {operation} {right.text}", SUM)
        case _:
            left, right = first.within(PRODUCT), others[0].within(PRODUCT + 1)
            return Signed(left.is_minus, f"{left.rest} {operation} {right.text}", PRODUCT)


def compared_text(one: Condition) -> str:
    """Return a condition on sizes and loops."""
    if isinstance(one, OneOfWays):
        ways = (" and ".join(map(compared_text, way)) for way in one.ways)
        return f"({' or '.join(f'({way})' for way in ways)})"
    left, right = bound_text(one.left), bound_text(one.right)
    if one.is_equal:
        return f"{left} == {right}"
    is_rest = isinstance(one.left, Combined) and one.left.operation == "%"
    if is_rest and one.right == Affine((), 1):
        return f"{left} != 0"
    return f"{left} >= {right}"


def _within(text: Text, least: int) -> str:
    return text[0] if text[1] >= least else f"({text[0]})"


# Values


def value_text(value: Value, axes: Axes, element: Element | None = None) -> Text:
    """Return a value laid out along axes; literals as those of an element."""
    match value:
        case Variable(name=name, axes=own):
            return laid_out(name, own, axes), ATOM
        case LiteralNumber(value=number):
            return (number_text(number, element) if element else _plain(number)), ATOM
        case IndexValue(index=index):
            return affine_text(index, axes)
        case Holds(test=test):
            return test_text(test, axes)
        case Converted():
            return _converted(value, axes)
        case Masked(value=inner, conditions=conditions, other=other, dtype=own):
            text = value_text(inner, axes, own)[0]
            return (
                f"tl.where({tests_text(conditions, axes)}, {text}, {number_text(other, own)})",
                ATOM,
            )
        case Merged(reduction="rsum" | "rprod" as operation, left=left, right=right):
            name = "add" if operation == "rsum" else "mul"
            return _infix(name, [value_text(left, axes), value_text(right, axes)])
        case Merged(reduction=operation, left=left, right=right, dtype=own):
            join = function(JOIN[operation], own)
            return f"{join}({value_text(left, axes)[0]}, {value_text(right, axes)[0]})", ATOM
        case Call():
            return _call(value, axes)
        case _:
            assert_never(value)


def _call(call: Call, axes: Axes) -> Text:
    operands: tuple[Value, ...] = call.operands
    element = call.dtype
    if call.operation in INFIX and INFIX[call.operation][1] == COMPARISON:
        compared = next((_type(o) for o in operands if _type(o) is not None), None)
        element = compared or _literal_type(operands)
    if all(isinstance(one, LiteralNumber) for one in operands):
        operands = tuple(Converted(one, (), element) for one in operands)
    elif call.operation == "where" and _are_untyped(operands[1:], element):
        operands = (operands[0], Converted(operands[1], (), element), *operands[2:])
    texts = [value_text(one, axes, element) for one in operands]
    is_whole = not is_float_element(element)
    if is_whole:
        texts = [
            (_filled(text, element), ATOM)
            if isinstance(one, LiteralNumber) and _is_inexact(one, element)
            else (text, level)
            for one, (text, level) in zip(operands, texts, strict=True)
        ]
    if is_operator(call):
        return _infix(call.operation, texts)
    if call.operation in PREFIX:
        symbol, level = PREFIX[call.operation]
        return f"{symbol}{_within(texts[0], level)}", level
    if call.operation == "where":
        texts[0] = value_text(operands[0], axes, DType.BOOL)
    if call.operation in ROUNDS and not is_float_element(element):
        return texts[0]
    if call.operation == "fma" and not is_float_element(element):
        return _infix("add", [_infix("mul", texts[:2]), texts[2]])
    if call.operation in PLAIN:
        name = PLAIN[call.operation]
    else:
        name = function(OWN[call.operation], element)
    is_ours = name in TEXTS
    exact = [
        _filled(text, element)
        if isinstance(one, LiteralNumber)
        and not (is_whole and _is_inexact(one, element))  # that was done above
        and (is_ours or _is_inexact(one, element) or _is_widened(name, element))
        else text
        for one, (text, _) in zip(operands, texts, strict=True)
    ]
    return f"{name}({', '.join(exact)})", ATOM


def _filled(number: str, element: Element) -> str:
    """Print a number of a type, whatever it meets."""
    return f"tl.full((), {number}, {dtype(element)})"


def _are_untyped(chosen: tuple[Value, ...], element: Element) -> bool:
    """Return whether Triton gives a choice between literals another type: 32 bits, if they fit.

    What is computed from it, a sum for one, would be so narrow, too.
    """
    is_natural = element in (DType.BOOL, DType.I32, DType.F32)
    return not is_natural and all(isinstance(one, LiteralNumber) for one in chosen)


def _type(value: Value) -> Element | None:
    match value:
        case LiteralNumber():
            return None
        case IndexValue():
            return DType.I64
        case _:
            return value.dtype


def _literal_type(operands: tuple[Value, ...]) -> Element:
    is_float = any(isinstance(o, LiteralNumber) and isinstance(o.value, float) for o in operands)
    return DType.F64 if is_float else DType.I64


def _is_inexact(number: LiteralNumber, element: Element) -> bool:
    """Return whether Triton would round a literal to f32 although it meets f64."""
    if is_float_element(element):
        return element is not DType.F32 and (abs(number.value) > 2**24 or number.value % 1 != 0)
    return not -(2**31) <= number.value < 2**31


def _is_widened(name: str, element: Element) -> bool:
    """Return whether a literal makes an i32 of the result, in older versions of Triton."""
    return name in ("tl.maximum", "tl.minimum") and element in (DType.I8, DType.I16, DType.U8)


def _infix(operation: str, texts: list[Text]) -> Text:
    symbol, level = INFIX[operation]
    # Comparisons do not chain, and `a - (b - c)` needs its brackets.
    left = _within(texts[0], level if level > COMPARISON else level + 1)
    return f"{left} {symbol} {_within(texts[1], level + 1)}", level


def _converted(value: Converted, axes: Axes) -> Text:
    inner, target = value.value, dtype(value.dtype)
    match inner:
        case LiteralNumber(value=number):
            return f"tl.full((), {number_text(number, value.dtype)}, {target})", ATOM
        case IndexValue(index=index, axes=()) if index.terms and not index.is_plain:
            # What it is computed from is converted first: twice a number of 32 bits may need 33.
            if is_large(index) and any(coefficient < 0 for _, coefficient in index.terms):
                # So may what is left of it before something is subtracted.
                return f"tl.cast({affine_text(index, axes, 'tl.int64')[0]}, {target})", ATOM
            return affine_text(index, axes, target)
        case Variable(axes=()) | IndexValue(axes=()):
            return f"tl.cast({value_text(inner, axes)[0]}, {target})", ATOM
        case _:
            return f"{_within(value_text(inner, axes), ATOM)}.to({target})", ATOM


def laid_out(name: str, own: Axes, axes: Axes) -> str:
    """Return the tile with a 1 for every axis it lacks, its own in the order asked for."""
    wanted = tuple(a for a in axes if a in own)
    if len(wanted) < len(own):
        raise Unsupported(f"'{name}' differs along lanes that a tile which needs it has not")
    if wanted != own:
        name = f"tl.permute({name}, {', '.join(str(own.index(a)) for a in wanted)})"
    if not own or len(wanted) == len(axes):
        return name
    return f"{name}[{', '.join(':' if a in own else 'None' for a in axes)}]"


def affine_text(
    index: Affine, axes: Axes, wide: str | None = None, taken: Sequence[Variable] = ()
) -> Text:
    """Return a sum, and how tightly its text binds."""
    signed = signed_affine(index, axes, wide, taken)
    return signed.text, signed.level


def signed_affine(
    index: Affine, axes: Axes, wide: str | None = None, taken: Sequence[Variable] = ()
) -> Signed:
    """Return a sum, its terms in a type if one is given; subtracted terms come last."""
    lanes = {one.name: one.axes for one in taken}
    parts: list[tuple[bool, str]] = []
    is_product = False
    for term, coefficient in index.terms:
        size = abs(coefficient)
        if isinstance(term, str):
            own = lanes.get(term, (term,) if term in axes else ())
            one = laid_out(term, own, axes)
            if wide is not None:
                one = f"{one}.to({wide})" if own else f"tl.cast({one}, {wide})"
        else:
            one, level = _division_text(division(term), axes, wide, taken)
            one = _within((one, level), SUM + 1 if size == 1 and coefficient > 0 else ATOM)
            is_product |= size == 1
        is_product |= size != 1
        parts.append((coefficient < 0, f"{size} * {one}" if size != 1 else one))
    if index.constant or not parts:
        parts.append((index.constant < 0, str(abs(index.constant))))
    parts.sort(key=lambda part: part[0])
    (is_minus, text), *others = parts
    for is_less, part in others:
        text += f" {'-' if is_less else '+'} {part}"
    level = PRODUCT if is_product or is_minus else ATOM
    return Signed(is_minus, text, SUM if others else level)


def _division_text(
    term: DividedIndex, axes: Axes, wide: str | None, taken: Sequence[Variable]
) -> Text:
    """Return a quotient or a remainder, rounded down.

    Triton rounds a quotient towards 0. So of what may be below 0, the quotient is made of two
    quotients of what is not.
    """
    by = term.divisor
    inner = affine_text(term.inner, axes, wide, taken)
    if is_natural(term.inner):
        return f"{_within(inner, PRODUCT)} {term.operator} {by}", PRODUCT
    below = affine_text(Affine((), by - 1) - term.inner, axes, wide, taken)[0]
    down = f"tl.maximum({inner[0]}, 0) // {by} - tl.maximum({below}, 0) // {by}"
    if term.operator == "//":
        return down, SUM
    return f"{inner[0]} - {by} * ({down})", SUM


def address_text(
    tensor: str, indices: tuple[Affine, ...], axes: Axes, taken: Sequence[Variable] = ()
) -> str:
    """Print the address of elements: indices times strides."""
    return " + ".join((address(tensor), *offset_texts(tensor, indices, axes, taken)))


def offset_texts(
    tensor: str, indices: tuple[Affine, ...], axes: Axes, taken: Sequence[Variable] = ()
) -> list[str]:
    """Print how far elements are from the first one: a term for each index that is not 0."""
    terms: list[str] = []
    for axis, index in enumerate(indices):
        if index != Affine():
            # What is taken has the type that it was loaded in, which may be narrow.
            narrow = [one.name for one in taken if one.dtype is not DType.I64]
            wide = "offset" if any(one in index.labels for one in narrow) else None
            text = _within(affine_text(index, axes, wide, taken), PRODUCT)
            if not index.terms and index.constant > 1:
                text = f"tl.cast({text}, offset)"  # labels have this type already
            terms.append(f"{text} * {stride(tensor, axis)}")
    return terms


def tests_text(tests: tuple[Test, ...], axes: Axes) -> str:
    """Return whether all tests hold, outer axes first."""
    order = sorted(tests, key=lambda t: [n in t.axes for n in axes], reverse=True)
    texts = [test_text(test, axes) for test in order]
    is_mixed = any(not test.axes for test in tests) and bool(axes)
    if is_mixed and not any(test.axes for test in tests):
        lane = laid_out(axes[0], axes[:1], axes)
        texts.insert(0, (f"{lane} == {lane}", COMPARISON))
    if len(texts) == 1:
        return texts[0][0]
    text = " & ".join(_within(text, AND) for text in texts)
    # Triton's interpreter makes numbers of a tile of truths that meets a single truth.
    return f"({text}) != 0" if is_mixed else text


def test_text(test: Test, axes: Axes) -> Text:
    """`value >= 0`, with what is negative on the left."""
    if test.name is not None:
        return laid_out(test.name, test.own, axes), ATOM
    value = test.value
    less = Affine(tuple((n, -c) for n, c in value.terms if c < 0))
    more = Affine(tuple((n, c) for n, c in value.terms if c > 0))
    sign = "<" if value.constant == -1 else "<="
    if value.constant > 0:
        more = more + Affine((), value.constant)
    elif value.constant < -1:
        less = less + Affine((), -value.constant)
    wide = "tl.int64" if test.is_large else None
    text = f"{affine_text(less, axes, wide)[0]} {sign} {affine_text(more, axes, wide)[0]}"
    if test.unless is not None:
        return f"({text}) | {test.unless}", OR
    return text, COMPARISON


def _plain(value: int | float) -> str:
    if isinstance(value, float):
        if isnan(value):
            return 'float("nan")'
        if isinf(value):
            return 'float("inf")' if value > 0 else 'float("-inf")'
    return repr(value).replace("e+", "e")


def number_text(value: int | float, element: Element) -> str:
    """Return a literal as the type writes it."""
    if element is DType.BOOL:
        return str(bool(value))
    if is_float_element(element):
        return _plain(float(value))
    if isinstance(element, DType) and element in LARGEST and isinstance(value, int):
        # The number wraps around, as whole numbers do when they overflow.
        low = 0 if element is DType.U8 else -LARGEST[element] - 1
        value = (value - low) % (LARGEST[element] - low + 1) + low
    return _plain(value)

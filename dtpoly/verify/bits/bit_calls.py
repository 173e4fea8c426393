"""Read how the calls of a kernel round: loads, operations of lanes, sums of tiles and products."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.verify.algebra.kernel_values import (
    FileFunction,
    NoneValue,
    TextValue,
    TileValue,
    TupleValue,
    TypeValue,
    Unread,
    lanes_of,
)
from dtpoly.verify.algebra.terms import AppliedOperation, Place
from dtpoly.verify.algebra.whole import FALSE, TRUE, Whole, name, number
from dtpoly.verify.bits.bit_state import BitState, Held, moved, unknown
from dtpoly.verify.bits.bit_terms import (
    BitChoice,
    BitElement,
    BitMoved,
    BitNumber,
    BitOperation,
    BitTerm,
    BitTile,
    BitUnknown,
    BitValue,
)
from dtpoly.verify.triton.known import fingerprint
from dtpoly.verify.triton.reshaping import halves, reshaped
from dtpoly.verify.triton.unit.unit import Unit

# Words of Triton that compute each lane by itself.
OF_LANES = frozenset(
    (
        *("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "sin", "cos", "erf", "abs"),
        *("ceil", "floor", "sigmoid", "fma", "clamp", "maximum", "minimum", "where", "fdiv"),
        *("div_rn", "cdiv", "cast", "full", "zeros", "tanh", "umulhi"),
    )
)
# Words that put the lanes of an axis together, and that leave a value at each lane of it.
TOGETHER = ("sum", "max", "min", "reduce")
SCANNED = "associative_scan"
# How many arguments of a word are read, and which names; None if all names are.
OPTIONS: dict[str, tuple[int, frozenset[str] | None]] = {
    "cast": (2, frozenset(("dtype",))),
    "sum": (2, frozenset(("axis", "keep_dims", "dtype"))),
    "max": (2, frozenset(("axis", "keep_dims"))),
    "min": (2, frozenset(("axis", "keep_dims"))),
    "reduce": (3, frozenset(("axis", "combine_fn", "keep_dims"))),
    "associative_scan": (3, None),
    "dot": (3, None),
}
# The choice of a lane between two values.
WHERE = "where"
PURE_NODES = (ast.Assign, ast.Return, ast.Expr, ast.For, ast.If, ast.AugAssign, ast.Pass)


def called(state: BitState, node: ast.Call) -> Held:
    """Return the value of a call."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="tl"), attr=word):
            return performed(state, word, node.args, node)
        case ast.Attribute(value=ast.Attribute() as room, attr=word) if word in OF_LANES:
            # A function of another room than Triton's own may compute the same otherwise.
            if ast.unparse(room) != "tl.math":
                return unknown(node.lineno, f"'{ast.unparse(node.func)}'")
            return performed(state, word, node.args, node)
        case ast.Attribute(attr="load"):
            return loaded(state, node, None)
        case ast.Name(id=one):
            return of_file(state, one, node)
        case _:
            return unknown(node.lineno, f"a call of '{ast.unparse(node.func)}'")


def method_called(state: BitState, of: ast.expr, word: str, node: ast.Call) -> Held:
    """Return the value of a method of a tensor, as the function with the tensor put first."""
    return performed(state, "cast" if word == "to" else word, [of, *node.args], node)


def performed(state: BitState, word: str, args: Sequence[ast.expr], node: ast.Call) -> Held:
    """Return the value of `tl.word(...)`."""
    named = {str(one.arg): one.value for one in node.keywords}
    line = node.lineno
    most, names = OPTIONS.get(word, (len(args), None))
    if len(args) > most or (names is not None and not names.issuperset(named)):
        return unknown(line, f"'tl.{word}' with an option that is not read")
    match word:
        case "load":
            return loaded(state, node, named.get("other"))
        case "full" | "zeros" | "broadcast_to":
            return filled(state, word, args, named, node)
        case "cast":
            to = told(state, args[1] if len(args) > 1 else named.get("dtype"))
            return state.operation(f"cast to {to}", (state.value(args[0]),), line)
        case "expand_dims" | "trans" | "permute":
            return turned(state, state.value(args[0]), node)
        case "reshape" | "split":
            return renumbered(state, word, state.value(args[0]), node)
        case "dot":
            return product(state, args, named, node)
        case "associative_scan":
            return scanned(state, args, named, node)
        case _ if word in TOGETHER:
            return reduced(state, word, args, named, node)
        case _ if word in OF_LANES:
            return of_lanes(state, word, args, named, line)
        case _:
            return unknown(line, f"'tl.{word}'")


def of_lanes(
    state: BitState, word: str, args: Sequence[ast.expr], named: dict[str, ast.expr], line: int
) -> BitValue:
    """Return an operation of Triton that computes each lane by itself.

    What is given by a name is an operand like any other, if it is no word of Triton.
    """
    words, tiles = [word if word == WHERE else f"tl.{word}"], list[Held]()
    for key, one in (*(("", arg) for arg in args), *named.items()):
        if ast.unparse(one).startswith("tl.") and isinstance(one, ast.Attribute):
            words.append(f"{key}={ast.unparse(one)}")
        else:
            words.append(key)
            tiles.append(state.held(one))
    said = " ".join(one for one in words if one)
    return state.operation(said, tiles, line)


def told(state: BitState, node: ast.expr | None) -> str:
    """Return an option of a call as a text that says all of it.

    Raises Unread for one that is not written: two calls may choose it in two ways.
    """
    if node is None:
        return ""
    note = state.note(node)
    match None if note is None else note.value:
        case TypeValue(name=one):
            return one
        case TextValue(text=text):
            return repr(text)
        case NoneValue():
            return "None"
        case TileValue(item=Whole() as item) if item.constant is not None:
            return str(item.constant)
        case TileValue(item=item) if item in (TRUE, FALSE):
            return str(item == TRUE)
        case None if isinstance(node, ast.Constant) or ast.unparse(node).startswith("tl."):
            return ast.unparse(node)
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}', an option that is not written")


def loaded(state: BitState, node: ast.Call, other: ast.expr | None) -> BitValue:
    """Return what a load gives: an element where its mask holds, and `other` elsewhere."""
    note = state.note(node)
    if note is None or not note.accesses or not isinstance(note.value, TileValue):
        return unknown(node.lineno, "a load that was not looked at")
    access, axes = note.accesses[-1], note.value.axes
    named = {str(one.arg): one.value for one in node.keywords}
    mask = named.get("mask", node.args[1] if len(node.args) > 1 else None)
    other = named.get("other", node.args[2] if len(node.args) > 2 else other)
    is_described = not is_triton(node.func)
    lanes = lanes_of(axes)
    if access.lanes[: len(lanes)] != lanes:
        return unknown(node.lineno, "a load of a tile that is broadcast")
    element: BitTerm = BitElement(access.tensor, access.indices, access.line)
    missing: BitTerm = BitUnknown(access.line, "an element that a mask leaves out")
    if is_described:
        mask, missing = None, BitOperation(f"zero in {access.tensor}", (), access.line)
    if other is not None:
        value = state.value(other)
        old = (*(None,) * (len(axes) - len(value.axes)), *value.axes)
        put = moved(value.term, old, axes, access.line)
        missing = BitOperation(f"as in {access.tensor}", (put,), access.line)
        if is_zero(value.term):
            missing = BitOperation(f"zero in {access.tensor}", (), access.line)
    if mask is not None and _is_data(state, mask):
        tile = state.value(mask)
        old = (*(None,) * (len(axes) - len(tile.axes)), *tile.axes)
        through = moved(tile.term, old, axes, access.line)
        element = BitOperation("where", (through, element, missing), access.line)
    return state.known(axes, BitChoice(access.where, element, missing))


def is_zero(term: BitTerm) -> bool:
    """Return whether a value is written as 0: as a float, or as a whole number."""
    match term:
        case BitOperation(word=word):
            return word in ("number 0.0 ", "number 0 ")
        case BitNumber(item=Whole() as item):
            return item.constant == 0
        case _:
            return False


def is_triton(function: ast.expr) -> bool:
    """Return whether a function is one of Triton, and not a method."""
    return isinstance(function, ast.Attribute) and ast.unparse(function.value) == "tl"


def _is_data(state: BitState, node: ast.expr) -> bool:
    """Return whether a mask depends on data, and not only on places and sizes."""
    return not isinstance(state.value(node).term, BitNumber)


def filled(
    state: BitState, word: str, args: Sequence[ast.expr], named: dict[str, ast.expr], node: ast.Call
) -> BitValue:
    """Return a tile in which all lanes hold the same, or a value that is brought to a shape."""
    note = state.note(node)
    if note is None or not isinstance(note.value, TileValue):
        return unknown(node.lineno, f"'tl.{word}'")
    axes = note.value.axes
    at = 0 if word == "broadcast_to" else 1
    value = args[at] if len(args) > at else named.get("value")
    kind = named.get("dtype", args[-1] if len(args) > at + 1 or word == "zeros" else None)
    shape = state.known(axes, BitOperation("shape", (), node.lineno))
    if word == "zeros" or value is None:
        return BitValue(axes, BitOperation(f"zeros {told(state, kind)}", (), node.lineno))
    found, (_, term) = state.aligned((shape, state.value(value)), node.lineno)
    if word == "broadcast_to":
        return BitValue(found, term)
    return BitValue(found, BitOperation(f"cast to {told(state, kind)}", (term,), node.lineno))


def turned(state: BitState, value: BitValue, node: ast.Call) -> BitValue:
    """Return a tile whose axes are in another order, or which has another axis of one lane."""
    note = state.note(node)
    word = ast.unparse(node.func).rpartition(".")[2]
    written = node.args[1:] if is_triton(node.func) else node.args
    parts = [
        part
        for one in written
        for part in (one.elts if isinstance(one, ast.Tuple | ast.List) else [one])
    ]
    numbers = [_axis_of(state, part) for part in parts]
    order = [one for one in numbers if one is not None]
    if note is None or not isinstance(note.value, TileValue):
        return unknown(node.lineno, f"'tl.{word}'")
    axes = value.axes
    if word == "expand_dims":
        if len(order) != 1 or not 0 <= order[0] <= len(axes):
            return unknown(node.lineno, "'tl.expand_dims' of an axis that is not written")
        return BitValue((*axes[: order[0]], None, *axes[order[0] :]), value.term)
    if not numbers:
        order = [*range(len(axes) - 2), len(axes) - 1, len(axes) - 2]
    if sorted(order) != [*range(len(axes))]:
        return unknown(node.lineno, f"'tl.{word}' in an order that is not written")
    return BitValue(tuple(axes[one] for one in order), value.term)


def renumbered(state: BitState, word: str, value: BitValue, node: ast.Call) -> Held:
    """Return a tile whose lanes are numbered anew, or the two halves of its last axis.

    The verifier's reader says which lane becomes which: it is asked about the names of all lanes.
    """
    note, line, lanes = state.note(node), node.lineno, lanes_of(value.axes)
    reader = state.state
    reader.extents.update({lane: state.extents[lane] for lane in lanes})
    probe = AppliedOperation("lanes", tuple(Place(name(lane)) for lane in lanes))
    tile = TileValue(value.axes, probe)
    if note is None or isinstance(value.term, BitUnknown):
        return BitValue((), value.term)
    if word == "split":
        found: tuple[TileValue, ...] = halves(reader, tile, line)
    elif isinstance(note.value, TileValue):
        found = (reshaped(reader, tile, note.value.axes, line),)
    else:
        return unknown(line, "'tl.reshape' of what is no tile")
    made = [_over(state, value, one) for one in found]
    return tuple(made) if word == "split" else made[0]


def _over(state: BitState, value: BitValue, probed: TileValue) -> BitValue:
    """Return a value over other lanes, given what the old ones are in terms of these."""
    assert isinstance(probed.item, AppliedOperation)
    places = [one.value for one in probed.item.operands if isinstance(one, Place)]
    put = tuple(zip(lanes_of(value.axes), places, strict=True))
    return state.known(probed.axes, BitMoved(value.term, put))


def extents_of(state: BitState, axes: Sequence[str | None]) -> tuple[Whole, ...]:
    """Return how many lanes there are along each axis."""
    found: list[Whole] = []
    for axis in axes:
        total = number(1)
        for lane in lanes_of((axis,)):
            total = total * state.extents[lane]
        found.append(total)
    return tuple(found)


def reduced(
    state: BitState,
    word: str,
    args: Sequence[ast.expr],
    named: dict[str, ast.expr],
    node: ast.Call,
) -> Held:
    """Return what is made of all lanes along an axis of a tile, or of several tiles together."""
    line = node.lineno
    operand = state.held(args[0])
    tiles = operand if isinstance(operand, tuple) else (operand,)
    axis = _axis_of(state, args[1] if len(args) > 1 else named.get("axis"))
    parts = [one for one in tiles if isinstance(one, BitValue)]
    axes, items = state.aligned(parts, line)
    if len(parts) != len(tiles) or not axes:
        return unknown(line, f"'tl.{word}' of what is no tile")
    along = [*range(len(axes))] if axis is None else [axis % len(axes)]
    if axis is None and word == "reduce":
        return unknown(line, "'tl.reduce' along an axis that is not written")
    function = args[2] if len(args) > 2 else named.get("combine_fn")
    how = f"tl.{word}"
    if word == "reduce":
        if not isinstance(function, ast.Name) or not is_of_lanes(state.state.file, function.id):
            return unknown(line, "'tl.reduce' by a function that is not followed")
        how = f"tl.reduce by {function.id} {fingerprint(state.state.file, function.id)}"
    bound = tuple(one for at in along for one in lanes_of((axes[at],)))
    keeps = "keep_dims" in named and told(state, named["keep_dims"]) == "True"
    rest = [None if at in along else one for at, one in enumerate(axes) if keeps or at not in along]
    how = f"{how} along {along} of {len(axes)} axes"
    if "dtype" in named:
        how = f"{how} in {told(state, named['dtype'])}"
    shape = extents_of(state, axes)
    found = [
        BitValue(tuple(rest), BitTile(f"{how}, part {at}", bound, shape, tuple(items), (), line))
        for at in range(len(items))
    ]
    return tuple(found) if isinstance(operand, tuple) else found[0]


def _axis_of(state: BitState, node: ast.expr | None) -> int | None:
    """Return an axis as it is written."""
    note = None if node is None else state.note(node)
    item = note.value.item if note and isinstance(note.value, TileValue) else None
    if isinstance(item, Whole):
        return item.constant
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    return None


def scanned(
    state: BitState, args: Sequence[ast.expr], named: dict[str, ast.expr], node: ast.Call
) -> Held:
    """Return a scan: each lane along an axis gets what is made of those before it."""
    line = node.lineno
    operand = state.held(args[0])
    tiles = operand if isinstance(operand, tuple) else (operand,)
    parts = [one for one in tiles if isinstance(one, BitValue)]
    axis = _axis_of(state, args[1])
    function = args[2]
    axes, items = state.aligned(parts, line)
    is_known = isinstance(function, ast.Name) and is_of_lanes(state.state.file, function.id)
    if len(parts) != len(tiles) or axis is None or not is_known or not axes:
        return unknown(line, "'tl.associative_scan'")
    along = axes[axis % len(axes)]
    lanes = lanes_of((along,))
    bound = state.anew(along) if along is not None else ""
    inside = [
        moved(one, axes, tuple(bound if a == along and a else a for a in axes), line)
        for one in items
    ]
    options = " ".join(f"{key}={told(state, one)}" for key, one in named.items())
    by = fingerprint(state.state.file, ast.unparse(function))
    how = f"tl.associative_scan by {by} along {axis} {options}"
    places = [BitNumber(name(one), "") for one in lanes]
    found = [
        BitValue(
            axes,
            BitTile(
                f"{how}, part {at}",
                lanes_of((bound or None,)),
                extents_of(state, axes),
                tuple(inside),
                tuple(places),
                line,
            ),
        )
        for at in range(len(items))
    ]
    return tuple(found) if isinstance(operand, tuple) else found[0]


def product(
    state: BitState, args: Sequence[ast.expr], named: dict[str, ast.expr], node: ast.Call
) -> BitValue:
    """Return a product of matrices, which may be added to a tile."""
    line = node.lineno
    left, right = state.value(args[0]), state.value(args[1])
    start = args[2] if len(args) > 2 else named.get("acc")
    if len(left.axes) != len(right.axes) or len(left.axes) not in (2, 3):
        return unknown(line, "'tl.dot' of what is no matrix")
    options = [f"{key}={told(state, one)}" for key, one in named.items() if key != "acc"]
    *batch, m, k = left.axes
    *others, k_too, n = right.axes
    flat_left = BitValue((*batch, m, None, k), left.term)
    flat_right = BitValue((*others, None, n, k_too), right.term)
    axes, (a, b) = state.aligned((flat_left, flat_right), line)
    *rest, along = axes
    beside: tuple[BitTerm, ...] = ()
    if start is not None:
        onto = state.value(start)
        if len(onto.axes) != len(rest):
            return unknown(line, "'tl.dot' onto a tile of another shape")
        beside = (moved(onto.term, onto.axes, tuple(rest), line),)
    word = " ".join(("tl.dot", *options))
    term = BitTile(word, lanes_of((along,)), extents_of(state, axes), (a, b), beside, line)
    return BitValue(tuple(rest), term)


def of_file(state: BitState, one: str, node: ast.Call) -> Held:
    """Return the value of a call of a function of the file that computes each lane by itself."""
    if one in ("min", "max") or not is_of_lanes(state.state.file, one):
        return unknown(node.lineno, f"a call of '{one}'")
    note = state.note(node)
    value = None if note is None else note.value
    parts = [state.held(arg) for arg in node.args]
    if node.keywords or isinstance(value, FileFunction):
        return unknown(node.lineno, f"a call of '{one}' by names")
    said = f"call {one} {fingerprint(state.state.file, one)}"
    if isinstance(value, TupleValue):
        count = len(value.parts)
        return tuple(
            state.operation(f"{said}, part {at}", parts, node.lineno) for at in range(count)
        )
    return state.operation(said, parts, node.lineno)


def is_of_lanes(file: Unit, one: str, around: tuple[str, ...] = ()) -> bool:
    """Return whether a function of the file, and all that it calls, computes lanes by themselves.

    Such a function has the same result wherever its arguments are the same.
    """
    definition = file.jitted.get(one)
    if definition is None or one in around:
        return False
    for node in ast.walk(definition):
        if isinstance(node, ast.stmt) and not isinstance(node, (*PURE_NODES, ast.FunctionDef)):
            return False
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(value=ast.Name(id="tl"), attr=word):
                if word not in {*OF_LANES, "static_range"}:
                    return False
            case ast.Attribute(attr="to"):
                pass
            case ast.Name(id="float"):
                pass
            case ast.Name(id=other):
                if not is_of_lanes(file, other, (*around, one)):
                    return False
            case _:
                return False
    return True

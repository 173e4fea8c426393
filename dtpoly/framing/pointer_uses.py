"""Finds which tensors a kernel loads and which it stores, from its text.

The text is gone through in order. Each name is known by the parameters whose addresses it may be
made of, and a load or a store through it is one of all these tensors. Branches on constants of a
launch are decided as far as they are known; of others, both sides count. What was loaded is known
by its tensor, too, so it is seen whose elements become parts of addresses. What comes out is a
guess for the frame: the verifier finds out by itself what is loaded and stored.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from dtpoly.extract.meanings import Helper, meaning, meaning_of_kernel, meaning_of_path
from dtpoly.extract.python_modules import Module
from dtpoly.frozen import dataclass

LOADS = ("load", "gather")
STORES = ("store", "scatter")
# What takes the numbers of lanes of a tile.
SHAPED = ("arange", "zeros", "full", "make_block_ptr", "make_tensor_descriptor")
SHAPED_ANEW = ("broadcast_to", "reshape", "view")
ATOMIC = "atomic_"
# A helper may call another one; a helper that calls itself would go on for ever.
DEPTH = 8
TWICE = 2  # what an iteration leaves in a name is seen by the next one

# What a name is made of: parameters that are addresses, and with this sign before them, those whose
# elements were loaded.
ELEMENTS = "~"
Origins = frozenset[str]
NOTHING: Origins = frozenset()


@dataclass(frozen=True, slots=True)
class PointerUses:
    """The parameters whose tensors a kernel loads, and those whose tensors it stores."""

    loaded: set[str] = field(default_factory=set[str])
    stored: set[str] = field(default_factory=set[str])
    # The parameters whose tensors are changed by atomic operations.
    summed: set[str] = field(default_factory=set[str])
    # The parameters whose elements are parts of addresses or limits, as of masks and loops; and
    # those whose elements are parts of addresses of stores.
    indexing: set[str] = field(default_factory=set[str])
    placing: set[str] = field(default_factory=set[str])
    # The parameters that are loaded in several places of the text.
    often: set[str] = field(default_factory=set[str])
    # The parameters that are numbers of lanes, as in `tl.arange(0, BLOCK)`.
    tiled: set[str] = field(default_factory=set[str])
    # The names that the kernel reads.
    read: set[str] = field(default_factory=set[str])
    # The places where each parameter is loaded.
    places: set[tuple[str, int, int]] = field(default_factory=set[tuple[str, int, int]])

    def note_limit(self, of: Origins) -> None:
        """Note what is compared, or counted to."""
        self.indexing.update(one.removeprefix(ELEMENTS) for one in elements(of))

    def note_address(self, through: Origins, node: ast.Call, *, is_stored: bool) -> None:
        """Note what an address is made of."""
        parts = {one.removeprefix(ELEMENTS) for one in elements(through)}
        self.indexing.update(parts)
        if is_stored:
            self.placing.update(parts)
        else:
            for one in addresses(through):
                place = (one, node.lineno, node.col_offset)
                if place not in self.places and any(one == other for other, *_ in self.places):
                    self.often.add(one)
                self.places.add(place)


def addresses(origins: Origins) -> Origins:
    """Return the parameters of which something is an address."""
    return frozenset(one for one in origins if not one.startswith(ELEMENTS))


def elements(origins: Origins) -> Origins:
    """Return what was loaded of what something is made of."""
    return origins - addresses(origins)


def uses_of(module: Module, kernel: str, constants: Mapping[str, object]) -> PointerUses:
    """Return the uses of a kernel of a module; `constants` are what parameters are given."""
    uses = PointerUses()
    found = meaning_of_kernel(module, kernel)
    if isinstance(found, Helper):
        arguments = found.function.args
        names = [one.arg for one in (*arguments.args, *arguments.kwonlyargs)]
        reader = _Reader(found.module, uses, {name: frozenset((name,)) for name in names})
        reader.known.update(constants)
        reader.body(found.function.body)
        nodes = (node for one in found.function.body for node in ast.walk(one))
        uses.read.update(node.id for node in nodes if isinstance(node, ast.Name))
    return uses


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader of one function: the names that are made of addresses, and those that are known."""

    module: Module
    uses: PointerUses
    origins: dict[str, Origins]
    known: dict[str, object] = field(default_factory=dict[str, object])
    depth: int = 0
    returned: list[Origins] = field(default_factory=list[Origins])

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Go through statements in order."""
        for one in statements:
            self.statement(one)

    def statement(self, node: ast.stmt) -> None:
        """Note what a statement loads, stores and names."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self.assigned(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assigned([target], value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.origins[name] = self.origins.get(name, NOTHING) | self.expression(value)
                self.known.pop(name, None)
            case ast.If(test=test, body=body, orelse=orelse):
                self.expression(test)
                truth = self.value(test)
                if truth is UNKNOWN or truth:
                    self.body(body)
                if truth is UNKNOWN or not truth:
                    self.body(orelse)
            case ast.For(target=target, iter=over, body=body):
                counted = elements(self.expression(over))
                self.uses.note_limit(counted)
                self.forget(target)
                for one in _names(target):
                    self.origins[one] = counted
                for _ in range(TWICE):
                    self.body(body)
            case ast.While(test=test, body=body):
                for _ in range(TWICE):
                    self.expression(test)
                    self.body(body)
            case ast.Return(value=ast.expr() as value):
                self.returned.append(self.expression(value))
            case ast.Expr(value=value):
                self.expression(value)
            case _:
                pass

    def assigned(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        """Note what names are made of from now on."""
        origins, known = self.expression(value), self.value(value)
        for target in targets:
            match target, value:
                case ast.Name(id=name), _:
                    self.origins[name] = origins
                    self.known.pop(name, None)
                    if known is not UNKNOWN:
                        self.known[name] = known
                case ast.Tuple(elts=left), ast.Tuple(elts=right) if len(left) == len(right):
                    for one, of in zip(left, right, strict=True):
                        self.assigned([one], of)
                case _:
                    self.forget(target)
                    for inner in _names(target):
                        self.origins[inner] = origins

    def forget(self, target: ast.expr) -> None:
        """Know no more what names hold."""
        for one in _names(target):
            self.known.pop(one, None)
            self.origins.pop(one, None)

    def expression(self, node: ast.expr) -> Origins:
        """Return the parameters whose addresses a value may be made of; note what it uses."""
        match node:
            case ast.Name(id=name):
                return self.origins.get(name, NOTHING)
            case ast.Call():
                return self.call(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = self.value(test)
                sides = [body] if truth is UNKNOWN or truth else []
                sides += [orelse] if truth is UNKNOWN or not truth else []
                return _united(self.expression(one) for one in sides)
            case ast.Compare() | ast.BoolOp():
                inner = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
                self.uses.note_limit(_united([self.expression(one) for one in inner]))
                return NOTHING
            case _:
                inner = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
                return _united([self.expression(one) for one in inner])

    def call(self, node: ast.Call) -> Origins:
        """Note what a call loads and stores; return what its result is made of."""
        given = [*node.args, *(one.value for one in node.keywords)]
        origins = [self.expression(one) for one in given]
        word = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        through = origins[0] if origins else NOTHING
        if isinstance(node.func, ast.Attribute):
            # `descriptor.load([...])` is a load of what the descriptor was made of.
            of = self.expression(node.func.value)
            through = addresses(of) | elements(_united([of, *origins])) if of else through
        if word in (*SHAPED, *SHAPED_ANEW):
            self.uses.tiled.update(addresses(_united(origins)))
        if word in LOADS:
            self.uses.note_address(through, node, is_stored=False)
            self.uses.loaded.update(addresses(through))
            return frozenset(f"{ELEMENTS}{one}" for one in addresses(through))
        if word in STORES:
            self.uses.note_address(through, node, is_stored=True)
            self.uses.stored.update(addresses(through))
            return NOTHING
        if word.startswith(ATOMIC):
            self.uses.note_address(through, node, is_stored=True)
            for kind in (self.uses.loaded, self.uses.stored, self.uses.summed):
                kind.update(addresses(through))
            return NOTHING
        if self.depth < DEPTH:
            helper = self.called(node.func)
            if helper is not None:
                return self.helper(helper, node)
        return _united(origins) | (through if word else NOTHING)

    def called(self, node: ast.expr) -> Helper | None:
        """Return the function of the project that is called; None for others."""
        match node:
            case ast.Name(id=name):
                found = meaning(self.module, name)
            case ast.Attribute():
                found = meaning_of_path(self.module, ast.unparse(node))
            case _:
                return None
        return found if isinstance(found, Helper) else None

    def helper(self, helper: Helper, node: ast.Call) -> Origins:
        """Go through a function that is called."""
        names = [one.arg for one in helper.function.args.args]
        given = dict(zip(names, node.args, strict=False))
        given |= {str(one.arg): one.value for one in node.keywords}
        inner = _Reader(
            helper.module,
            self.uses,
            {name: self.expression(value) for name, value in given.items()},
            depth=self.depth + 1,
        )
        known = ((name, self.value(value)) for name, value in given.items())
        inner.known.update({name: value for name, value in known if value is not UNKNOWN})
        inner.body(helper.function.body)
        return _united(inner.returned)

    def value(self, node: ast.expr) -> object:
        """Return what a value is, if that is known from the constants of a launch."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.known.get(name, UNKNOWN)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                found = self.value(operand)
                return UNKNOWN if found is UNKNOWN else not found
            case ast.BoolOp(op=op, values=values):
                return self.joined(op, values)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.compared(op, self.value(left), self.value(right), right)
            case ast.Call(func=ast.Attribute(attr="constexpr"), args=[inner]):
                return self.value(inner)
            case _:
                return UNKNOWN

    def joined(self, op: ast.boolop, values: Sequence[ast.expr]) -> object:
        """Return what `and` or `or` of values is; one that decides is enough."""
        found = [self.value(one) for one in values]
        decides = isinstance(op, ast.Or)
        if any(one is not UNKNOWN and bool(one) == decides for one in found):
            return decides
        return UNKNOWN if UNKNOWN in found else not decides

    def compared(self, op: ast.cmpop, left: object, right: object, node: ast.expr) -> object:
        """Return what a comparison is."""
        is_none = isinstance(node, ast.Constant) and node.value is None
        if is_none and isinstance(op, ast.Is | ast.Eq | ast.IsNot | ast.NotEq):
            if left is UNKNOWN:
                return UNKNOWN
            return (left is None) == isinstance(op, ast.Is | ast.Eq)
        if UNKNOWN in (left, right):
            return UNKNOWN
        match op:
            case ast.Eq() | ast.Is():
                return left == right
            case ast.NotEq() | ast.IsNot():
                return left != right
            case _:
                pass
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            return UNKNOWN
        match op:
            case ast.Lt():
                return left < right
            case ast.LtE():
                return left <= right
            case ast.Gt():
                return left > right
            case ast.GtE():
                return left >= right
            case _:
                return UNKNOWN


@dataclass(frozen=True, slots=True)
class NotKnown:
    """What is not known from the constants of a launch."""


UNKNOWN = NotKnown()


def _united(all_of_them: Iterator[Origins] | Sequence[Origins]) -> Origins:
    return NOTHING.union(*all_of_them)


def _names(target: ast.expr) -> Iterator[str]:
    for one in ast.walk(target):
        if isinstance(one, ast.Name):
            yield one.id

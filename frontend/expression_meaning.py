"""Turns the syntax of an expression into an expression of the Program: each name gets its meaning.

A part that is wrong is reported once and becomes None. Whatever contains that part passes the None
on and reports nothing, so that one mistake gives one message.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    ScanOrder,
    Size,
    at_data,
    map_children,
    walk,
)
from dtpoly.algorithm.operations import (
    BEFORE,
    DRAWN,
    FROM_LIST,
    FUNCTIONS,
    INFIX,
    LIST,
    LONGEST_LIST,
    PREFIX,
    REDUCTION,
    REDUCTION_CALLS,
    REVERSE,
    SCAN_AFFINE,
    SCANS,
    Operation,
)
from dtpoly.algorithm.outside import padding_of
from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass

from . import call_messages, data_messages
from . import name_messages as messages
from .indices import affine
from .name_lookup import Names
from .packing import unpacked
from .ranges import conditions_of
from .symbols import LABELS, TENSORS, Symbol, SymbolKind, read_dtype
from .syntax import BinarySyntax, CallSyntax, Indexed, NameSyntax, Node, NumberSyntax, Unary

MAX_INTEGER = 2**63 - 1
CONSTANTS = {"inf": float("inf"), "nan": float("nan")}
AXES = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Lowering:
    """Turns syntax into expressions.

    `names` gives names their meaning and collects the mistakes.
    """

    names: Names
    is_place: bool = False  # whether elements go there, and none is read

    def tell(self, diagnostic: Diagnostic) -> None:
        """Report a mistake; the caller goes on with None."""
        self.names.tell(diagnostic)

    def expression(self, node: Node) -> Expr | None:
        """Lower a node that stands where a value is expected."""
        match node:
            case NumberSyntax():
                return self.number(node)
            case NameSyntax():
                return self.name(node)
            case CallSyntax():
                return self.call(node)
            case Indexed():
                return self.indexed(node)
            case Unary(operator=operator, operand=operand, span=span):
                below = self.expression(operand)
                if below is None or operator.text == "+":
                    return below
                return Apply(PREFIX[operator.text].name, (below,), span)
            case BinarySyntax(left=left, operator=operator, right=right, span=span):
                operands = self.all_of((left, right))
                return Apply(INFIX[operator.text].name, operands, span) if operands else None
            case _:
                assert_never(node)

    def all_of(self, nodes: Sequence[Node]) -> tuple[Expr, ...] | None:
        """Lower all nodes, so that each mistake is reported; None if one of them is wrong."""
        lowered = [self.expression(node) for node in nodes]
        good = tuple(expr for expr in lowered if expr is not None)
        return good if len(good) == len(lowered) else None

    def number(self, node: NumberSyntax) -> Expr | None:
        """Lower a literal; None after reporting that it is too large."""
        if node.text.isdigit():
            # int() refuses thousands of digits. A number of 100 digits is too large in any case.
            value = int(node.text) if len(node.text) < 100 else MAX_INTEGER + 1
            if value > MAX_INTEGER:
                self.tell(messages.integer_too_large(node, 64))
                return None
            return Integer(value, node.span)
        fraction = float(node.text)
        if fraction == float("inf"):
            self.tell(messages.float_too_large(node))
            return None
        return Float(fraction, node.span)

    def name(self, node: NameSyntax) -> Expr | None:
        """Lower a word that stands alone: a label, a scalar input, or inf or nan."""
        if node.text in CONSTANTS:
            return Float(CONSTANTS[node.text], node.span)
        symbol = self.names.find(node, SymbolKind.SIN)
        if symbol is None:
            return None
        if symbol.kind in LABELS:
            return Index(symbol.name, node.span)
        if symbol.kind is SymbolKind.SIN:
            return ScalarRead(symbol.name, node.span)
        self.tell(messages.tensor_without_indices(node, symbol))
        return None

    def indexed(self, node: Indexed) -> Expr | None:
        """Lower a read of a tensor input or a Func, with or without a pad."""
        base = node.base
        padding: Expr | None = None
        if isinstance(base, CallSyntax) and base.function.text == "pad":
            if len(base.arguments) != 2 or not isinstance(base.arguments[0], NameSyntax):
                self.tell(call_messages.malformed_pad(base))
                return None
            padding = self.expression(base.arguments[1])
            if padding is None:
                return None
            base = base.arguments[0]
        if not isinstance(base, NameSyntax):
            self.tell(messages.not_a_tensor(node, base, None))
            return None
        symbol = self.names.find(base, SymbolKind.IN)
        indices = [self.index(index) for index in node.indices]
        if symbol is None:
            return None
        if symbol.kind not in TENSORS:
            self.tell(messages.not_a_tensor(node, base, symbol))
            return None
        good = tuple(index for index in indices if index is not None)
        if len(good) < len(indices) or not self.names.has_rank(symbol, node):
            return None
        is_at_data = any(index.data is not None for index in good)
        if is_at_data and symbol.kind is SymbolKind.FUNC and not self.is_place:
            self.tell(data_messages.reads_a_func(node, symbol))
            return None
        return unpacked(Read(symbol.name, good, padding, node.span), self.names, node)

    def index(self, node: Node) -> Affine | None:
        """Lower an index of a read: a sum of labels, or a value if it has an element in it."""
        if not data_messages.has_elements(node):
            return affine(self.names, node)
        value = self.expression(node)
        if value is None:
            return None
        for one in walk(value):
            wrong = data_messages.not_in_an_index(one)
            if wrong is not None:
                self.tell(wrong)
                return None
        if not isinstance(value, Read):
            return at_data(added_up(value))
        # A promise is about the elements of the input, and not about what is read outside of it.
        is_element = padding_of(value) is None
        return at_data(value, self.names.promised.get(value.tensor) if is_element else None)

    def call(self, node: CallSyntax) -> Expr | None:
        """Lower a call of a function of the language."""
        name = node.function.text
        if name in DRAWN:
            return self.drawn(node)
        if name in FUNCTIONS:
            return self.elementwise(node, FUNCTIONS[name])
        if name in REDUCTION_CALLS:
            return self.reduction(node)
        if name in SCANS:
            return self.scan(node)
        if name in FROM_LIST:
            return self.listed(node)
        match name:
            case "rdot":
                return self.dot(node)
            case "cast":
                return self.cast(node)
            case "len":
                return self.size(node)
            case "reshape":
                return self.reshape(node)
            case "program_id":
                return self.program_id(node)
            case "pad":
                self.tell(call_messages.malformed_pad(node))
            case _:
                self.unknown_function(node)
        self.look_at(node.arguments)
        return None

    def unknown_function(self, node: CallSyntax) -> None:
        """Report a call of a function that does not exist."""
        last = node.arguments[-1] if node.arguments else None
        over = self.names.symbol(last.text) if isinstance(last, NameSyntax) else None
        symbol = self.names.symbol(node.function.text)
        self.tell(call_messages.unknown_function(node, symbol, over))

    def look_at(self, nodes: Sequence[Node]) -> None:
        """Report the mistakes in the arguments of a wrong call.

        A bare word is left out, because it may mean anything there.
        """
        self.all_of([node for node in nodes if not isinstance(node, NameSyntax)])

    def elementwise(self, node: CallSyntax, operation: Operation) -> Expr | None:
        """Lower a call of an elementwise function."""
        if len(node.arguments) != operation.arity:
            self.tell(call_messages.wrong_count(node, str(operation.arity)))
            self.look_at(node.arguments)
            return None
        operands = self.all_of(node.arguments)
        return Apply(operation.name, operands, node.span) if operands else None

    def drawn(self, node: CallSyntax) -> Expr | None:
        """Lower `random(seed, x, ...)`. A counter has two numbers; more of them make new seeds."""
        name = node.function.text
        if len(node.arguments) < 2:
            self.tell(call_messages.wrong_count(node, "2 or more"))
            self.look_at(node.arguments)
            return None
        operands = self.all_of(node.arguments)
        if operands is None:
            return None
        drawn, *numbers = operands
        if len(numbers) % 2:
            numbers.append(Integer(0, node.span))
        last = len(numbers) - 2
        for at in range(0, len(numbers), 2):
            word = name if at == last else "random_bits"
            drawn = Apply(word, (drawn, *numbers[at : at + 2]), node.span)
        return drawn

    def labels(self, node: CallSyntax, arguments: Sequence[Node]) -> tuple[str, ...] | None:
        """Return the labels that a reduction names last.

        Each must be an RVar and stand there once.
        """
        labels: list[str] = []
        good = True
        for at, argument in enumerate(arguments):
            label = self.reduction_label(node, argument)
            if label is None:
                good = False
            elif label in labels:
                self.tell(call_messages.reduced_twice(label, arguments[at - 1], argument))
                good = False
            else:
                labels.append(label)
        return tuple(labels) if good else None

    def reduction_label(self, node: CallSyntax, argument: Node) -> str | None:
        """Return the label that an argument of a reduction names.

        None after reporting a mistake.
        """
        if not isinstance(argument, NameSyntax):
            self.tell(call_messages.not_a_reduction_label(node, argument, None))
            return None
        symbol = self.names.find(argument, SymbolKind.RVAR)
        if symbol is None:
            return None
        if symbol.kind not in LABELS:
            self.tell(call_messages.not_a_reduction_label(node, argument, symbol))
            return None
        if symbol.kind is not SymbolKind.RVAR:
            self.tell(call_messages.not_an_rvar(argument, symbol))
            return None
        return symbol.name

    def reduction(self, node: CallSyntax) -> Expr | None:
        """Lower rsum(e, k) and its kin; all but rargmax and rargmin take several labels."""
        name = node.function.text
        if len(node.arguments) < 2:
            self.tell(call_messages.wrong_count(node, "2 or more"))
            self.look_at(node.arguments)
            return None
        # The labels are read first, so that a label that is not declared is reported as a missing
        # RVar.
        labels = self.labels(node, node.arguments[1:])
        operand = self.expression(node.arguments[0])
        if labels and len(labels) > 1 and not REDUCTION[name].has_identity:
            self.tell(call_messages.one_label_only(node, node.arguments[2]))
            return None
        if operand is None or labels is None:
            return None
        return Reduce(name, operand, labels, node.span, conditions_of(self.names, labels))

    def scan(self, node: CallSyntax) -> Expr | None:
        """Lower scan_sum(e, s, t) and its kin; `before` and `reverse` may follow.

        A recurrence, scan_affine(a, b, s, t, h), has a factor and an initial value, too.
        """
        word = node.function.text
        is_affine = word == SCAN_AFFINE
        least = 5 if is_affine else 3
        if len(node.arguments) < least:
            self.tell(call_messages.wrong_count(node, f"{least} or more"))
            self.look_at(node.arguments)
            return None
        factors, (operand, label, at, *others) = (
            (node.arguments[:1], node.arguments[1:]) if is_affine else ((), node.arguments)
        )
        beside = self.all_of([*factors, *others[: len(factors)]])
        others = others[len(factors) :]
        labels = self.labels(node, (label,))
        symbol = self.names.find(at, SymbolKind.VAR) if isinstance(at, NameSyntax) else None
        value = self.expression(operand)
        words: dict[str, None] = {}
        for other in others:
            text = other.text if isinstance(other, NameSyntax) else ""
            if text not in (BEFORE, REVERSE) or text in words:
                self.tell(call_messages.no_order(word, other))
                return None
            words[text] = None
        is_label = symbol is not None and symbol.kind in LABELS
        if symbol is None or not is_label or symbol.name in (labels or ()):
            if symbol is not None or not isinstance(at, NameSyntax):
                self.tell(call_messages.no_result_label(word, at, symbol))
            return None
        if value is None or labels is None or beside is None:
            return None
        order = ScanOrder(symbol.name, BEFORE in words, REVERSE in words, *beside)
        when = order.conditions(*labels)
        return Reduce(SCANS[word], value, labels, node.span, when, order)

    def listed(self, node: CallSyntax) -> Expr | None:
        """Lower `rtopk(e, k, j)`: what is at place j of the list of the largest e over k.

        A place of nothing has a larger index than any value, which `rargtopk` makes len(k).
        """
        if len(node.arguments) != 3:
            self.tell(call_messages.wrong_count(node, "3"))
            self.look_at(node.arguments)
            return None
        labels = self.labels(node, node.arguments[1:2])
        place = self.place(node, node.arguments[2])
        operand = self.expression(node.arguments[0])
        if operand is None or labels is None or place is None:
            return None
        when = conditions_of(self.names, labels)
        largest = Reduce(LIST, operand, labels, node.span, when, count=place.size or 1)
        at = Index(place.name, node.arguments[2].span)
        found = Apply(node.function.text, (largest, at), node.span)
        if node.function.text == FROM_LIST[0]:
            return Apply("minimum", (found, Size(labels[0], node.span)), node.span)
        return found

    def place(self, node: CallSyntax, argument: Node) -> Symbol | None:
        """Return the label whose indices are the places of a list, and which has as many."""
        symbol = None
        if isinstance(argument, NameSyntax):
            symbol = self.names.find(argument, SymbolKind.VAR)
            if symbol is None:
                return None
        if (
            symbol is None
            or symbol.kind not in LABELS
            or symbol.size is None
            or symbol.size > LONGEST_LIST
        ):
            self.tell(call_messages.no_places(node, argument, symbol))
            return None
        return symbol

    def dot(self, node: CallSyntax) -> Expr | None:
        """Lower `rdot(left, right, k)`."""
        if len(node.arguments) < 3:
            self.tell(call_messages.wrong_count(node, "3 or more"))
            self.look_at(node.arguments)
            return None
        labels = self.labels(node, node.arguments[2:])
        operands = self.all_of(node.arguments[:2])
        if operands is None or labels is None:
            return None
        when = conditions_of(self.names, labels)
        return Dot(operands[0], operands[1], labels, node.span, when)

    def cast(self, node: CallSyntax) -> Expr | None:
        """Lower `cast(e, dtype)`."""
        if len(node.arguments) != 2:
            self.tell(call_messages.wrong_count(node, "2"))
            return None
        operand = self.expression(node.arguments[0])
        wanted = node.arguments[1]
        read: DType | Diagnostic = (
            read_dtype(wanted)
            if isinstance(wanted, NameSyntax)
            else call_messages.not_a_dtype(wanted)
        )
        if isinstance(read, Diagnostic):
            self.tell(read)
            return None
        return Cast(operand, read, node.span) if operand else None

    def size(self, node: CallSyntax) -> Expr | None:
        """Lower `len(label)`."""
        if len(node.arguments) != 1:
            self.tell(call_messages.wrong_count(node, "1"))
            return None
        argument = node.arguments[0]
        if not isinstance(argument, NameSyntax):
            self.tell(call_messages.not_a_label(node, argument, None))
            return None
        symbol = self.names.find(argument, SymbolKind.VAR)
        if symbol is None:
            return None
        if symbol.kind not in LABELS:
            self.tell(call_messages.not_a_label(node, argument, symbol))
            return None
        return Size(symbol.name, node.span)

    def reshape(self, node: CallSyntax) -> Expr | None:
        """Lower `reshape(e, label or 1, ...)`."""
        if not node.arguments:
            self.tell(call_messages.wrong_count(node, "1 or more"))
            return None
        operand = self.expression(node.arguments[0])
        axes: list[str | None] = []
        good = True
        for argument in node.arguments[1:]:
            if isinstance(argument, NumberSyntax) and argument.text == "1":
                axes.append(None)
                continue
            symbol = None
            if isinstance(argument, NameSyntax):
                symbol = self.names.find(argument, SymbolKind.VAR)
                if symbol is None:
                    good = False
                    continue
            if symbol is None or symbol.kind not in LABELS or symbol.name in axes:
                self.tell(call_messages.not_an_axis(argument, symbol))
                good = False
            else:
                axes.append(symbol.name)
        if operand is None or not good:
            return None
        return Reshape(operand, tuple(axes), node.span)

    def program_id(self, node: CallSyntax) -> Expr | None:
        """Lower `program_id(axis)`, with a warning that the result depends on the schedule."""
        argument = node.arguments[0] if len(node.arguments) == 1 else None
        if not isinstance(argument, NumberSyntax) or argument.text not in map(str, AXES):
            self.tell(call_messages.wrong_axis(node, node.arguments))
            return None
        self.tell(call_messages.depends_on_schedule(node))
        return ProgramId(int(argument.text), node.span)


def added_up(value: Expr) -> Expr:
    """Return the value of an index, computed in 64 bits: its elements may have fewer."""
    match value:
        case Read():
            return Cast(value, DType.I64)
        case Apply(operation="add" | "sub" | "mul" | "neg" | "quotient" | "mod"):
            return map_children(value, added_up)
        case Apply(operation="maximum" | "minimum"):
            return map_children(value, added_up)
        case Apply(operation="where", operands=(condition, yes, no)):
            return replace(value, operands=(condition, added_up(yes), added_up(no)))
        case _:
            return value


def lower(names: Names, node: Node) -> Expr | None:
    """Return the expression that a node means, or None after reporting what is wrong with it."""
    return Lowering(names).expression(node)


def lower_place(names: Names, node: Indexed) -> Read | None:
    """Return the place that a node means, as a read; None after reporting what is wrong with it."""
    found = Lowering(names, is_place=True).expression(node)
    return found if isinstance(found, Read) else None

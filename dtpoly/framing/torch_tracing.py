"""Makes an algorithm of a function of torch, by tracing it at the sizes of a recorded launch.

The function is run by torch's tracer on tensors without data. Each operation of the trace becomes a
formula over labels: a size that is another number than all others names its label. Sums and other
reductions become Funcs. An operation that the language does not have is refused by its name.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from itertools import islice, permutations
from typing import Any, cast

from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.framing.launch_groups import BOTH, LOADED, WORDS, GroupTensor, LaunchGroup
from dtpoly.framing.plain_algorithm import PlainAlgorithm, PlainFunc, PlainInput
from dtpoly.framing.tensor_axes import plain_axes
from dtpoly.framing.torch_operations import BINARY, COMPARED, REDUCED, UNARY, number_text
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span

MOST_ORDERS = 24  # of tensors that are tried as the inputs
FLOATS = ("f", "bf")  # begin the names of dtypes of floats
LABELS = ("x", "y", "z", "w", "v", "u", "r", "n", "m", "k", "i", "j")
PASSED = ("clone", "alias", "detach", "contiguous", "_to_copy", "lift_fresh_copy", "dropout")
# What operations are told by name: the formulas follow it, or it does not change values.
TOLD = (
    *("alpha", "correction", "dim", "dtype", "implicit", "keepdim", "max", "min"),
    *("device", "layout", "memory_format", "non_blocking", "pin_memory"),
)
SHAPED = ("view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "expand", "flatten")


@dataclass(frozen=True, slots=True)
class TracedValue:
    """A value of a trace: its formula, and for each axis its label, or none where its size is 1.

    It is turned if the formula has its labels in another order than the axes.
    """

    text: str
    axes: tuple[str | None, ...]
    sizes: tuple[int, ...]
    is_turned: bool = False


class NotTraced(Exception):
    """An operation that is not understood."""


def traced_algorithms(name: str, group: LaunchGroup) -> Iterator[PlainAlgorithm]:
    """Yield what a function computes of tensors of a kernel. Raises DtpolyError.

    Which of the tensors are its arguments is not known: those that have the names of its parameters
    are tried first, then others in order.
    """
    function = _function(name)
    reasons: list[str] = []
    count = 0
    for arguments in islice(_arguments(function, group), MOST_ORDERS):
        try:
            found = _traced(function, name, arguments, group)
        except NotTraced as error:
            reasons.append(str(error))
            continue
        count += 1
        yield found
    if not count:
        # The first order is the most probable one.
        few = "its arguments do not fit the tensors that the kernel loads"
        raise _refused(name, reasons[0] if reasons else few)


def _function(name: str) -> Callable[..., Any]:
    """Return the function of `module.function`. Raises DtpolyError."""
    module, _, member = name.rpartition(".")
    try:
        found = getattr(import_module(module), member)
    except (ImportError, AttributeError, ValueError) as error:
        raise _refused(name, f"it cannot be imported: {error}") from error
    if not callable(found):
        raise _refused(name, "it is no function")
    made: Callable[..., Any] = found
    return made


def _arguments(
    function: Callable[..., Any], group: LaunchGroup
) -> Iterator[tuple[tuple[str, GroupTensor], ...]]:
    """Yield which tensors a function may be given."""
    loaded = [one for one in group.tensors if one.use in (LOADED, BOTH)]
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        # A function that is written in C does not say: it takes all tensors, in order.
        yield tuple((f"argument_{at}", one) for at, one in enumerate(loaded))
        return
    names = {one.name.lower(): one for one in loaded}
    needed = [
        one.name
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        and (one.default is one.empty or one.name.lower() in names)
        and one.name not in group.fixed
    ]
    orders = permutations(loaded, len(needed))

    def improbable(order: Sequence[GroupTensor]) -> float:
        pairs = zip(needed, order, strict=True)
        return sum(one.lower() != tensor.name.lower() for one, tensor in pairs)

    for order in sorted(islice(orders, 1000), key=improbable):
        yield tuple(zip(needed, order, strict=True))


def _traced(
    function: Callable[..., Any],
    name: str,
    arguments: Sequence[tuple[str, GroupTensor]],
    group: LaunchGroup,
) -> PlainAlgorithm:
    """Return the algorithm for some arguments. Raises NotTraced."""
    torch: Any = import_module("torch")
    make_fx: Any = import_module("torch.fx.experimental.proxy_tensor").make_fx
    _check_dtypes(arguments)
    at = _telling(group)
    shapes = [tuple(axis.sizes[at] for axis in plain_axes(one)) for _, one in arguments]
    names = [_name_of(one) for one, _ in arguments]
    labels = _labels([size for shape in shapes for size in shape], names)
    numbers = {
        one: value
        for one, value in group.fixed.items()
        if isinstance(value, float) and one in _parameters(function)
    }

    def called(*tensors: Any) -> Any:
        given = dict(zip([one for one, _ in arguments], tensors, strict=True))
        if all(one.startswith("argument_") for one in given):
            return function(*tensors)
        return function(**given, **numbers)

    try:
        samples = [torch.empty(shape, device="meta") for shape in shapes]
        graph = make_fx(called, decomposition_table=_decompositions())(*samples).graph
    except NotTraced:
        raise
    except Exception as error:  # whatever the user's own function raises
        raise NotTraced(f"torch cannot trace it: {str(error).splitlines()[0]}") from error
    found = _Trace(labels).algorithm(graph, name, names, shapes)
    given = [f"{one} of sizes {list(shape)}" for one, shape in zip(names, shapes, strict=True)]
    given += [f"{one} = {value!r}" for one, value in numbers.items()]
    guess = (
        f"the algorithm is what '{name}' did with {', '.join(given)}: with others it may do"
        " something else, and in between everything is f32"
    )
    return replace(found, guesses=(guess,))


def _check_dtypes(arguments: Sequence[tuple[str, GroupTensor]]) -> None:
    """Refuse tensors of whole numbers: the trace is one of floats. Raises NotTraced."""
    for name, tensor in arguments:
        if not tensor.dtype.startswith(FLOATS):
            raise NotTraced(f"'{name}' has whole numbers ({tensor.dtype}), and floats are traced")


def _name_of(parameter: str) -> str:
    """Return the name of an input, which must be no word of the language."""
    return f"{parameter}_" if parameter in (*WORDS, *CALL_NAMES) else parameter


def _parameters(function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return {}


def _telling(group: LaunchGroup) -> int:
    """Return the launch whose sizes tell most labels apart."""

    def different(at: int) -> int:
        return len({axis.sizes[at] for one in group.tensors for axis in plain_axes(one)})

    return max(range(group.count), key=different)


def _labels(sizes: Sequence[int], taken: Sequence[str]) -> dict[int, str]:
    """Return the label of each size."""
    different = [one for one in dict.fromkeys(sizes) if one != 1]
    free = [one for one in LABELS if one not in taken]
    if len(different) > len(free):
        raise NotTraced("it has too many different sizes")
    return dict(zip(different, free, strict=False))


def _decompositions() -> Any:
    """Return how torch takes operations apart that are made of simpler ones."""
    aten: Any = import_module("torch").ops.aten
    of: Any = import_module("torch._decomp").get_decompositions
    names = ("native_layer_norm", "silu", "gelu", "_softmax", "_log_softmax", "addmm", "addmv")
    more = ("mse_loss", "leaky_relu", "elu", "softplus", "_fused_rms_norm")
    found = [getattr(aten, one) for one in (*names, *more) if hasattr(aten, one)]
    return of(found)


@dataclass(frozen=True, slots=True)
class _Trace:
    """A trace that is read, node by node."""

    labels: dict[int, str]
    values: dict[Any, Any] = field(default_factory=dict[Any, Any])
    funcs: list[PlainFunc] = field(default_factory=list[PlainFunc])

    def algorithm(
        self, graph: Any, name: str, arguments: Sequence[str], shapes: Sequence[tuple[int, ...]]
    ) -> PlainAlgorithm:
        """Return the algorithm of a graph."""
        given = iter(zip(arguments, shapes, strict=True))
        inputs: list[PlainInput] = []
        results: list[str] = []
        for node in graph.nodes:
            if node.op == "placeholder":
                argument, shape = next(given)
                axes = self.axes(shape)
                labels = tuple(one for one in axes if one is not None)
                if len(set(labels)) != len(labels):
                    raise NotTraced(f"'{argument}' has two axes of one size: record other sizes")
                inputs.append(PlainInput(argument, labels))
                self.values[node] = TracedValue(_at(argument, labels), axes, shape)
            elif node.op == "output":
                results = self.outputs(node.args[0], name.rpartition(".")[2])
            elif node.op == "call_function":
                self.values[node] = self.operated(node)
            else:
                raise NotTraced(f"it uses '{node.target}', which is no argument")
        return PlainAlgorithm(name, tuple(inputs), (), tuple(self.funcs), tuple(results), {})

    def outputs(self, node: Any, name: str) -> list[str]:
        """Make Funcs of what a function returns."""
        nodes: list[Any] = [node]
        if isinstance(node, tuple | list):
            nodes = [*cast("Sequence[Any]", node)]
        names: list[str] = []
        for at, one in enumerate(nodes):
            value = self.value(one)
            labels = tuple(label for label in value.axes if label is not None)
            func = f"{name}_{at}" if at else f"{name}_result"
            self.funcs.append(PlainFunc(func, labels, value.text))
            names.append(func)
        return names

    def axes(self, shape: Sequence[int]) -> tuple[str | None, ...]:
        """Return the labels of a shape."""
        found: list[str | None] = []
        for size in shape:
            if size != 1 and size not in self.labels:
                raise NotTraced(f"an axis of {size} elements is none of the arguments'")
            found.append(None if size == 1 else self.labels[size])
        return tuple(found)

    def value(self, of: Any) -> TracedValue:
        """Return the value of an argument of a node."""
        if isinstance(of, bool | int | float):
            return TracedValue(number_text(of), (), ())
        found = self.values.get(of)
        if not isinstance(found, TracedValue):
            raise NotTraced("it has a value that is no tensor")
        return found

    def operated(self, node: Any) -> Any:
        """Return the value of a node. Raises NotTraced for an operation that is not understood."""
        target: Any = node.target
        if getattr(target, "__name__", "") == "getitem":
            return self.values[node.args[0]][node.args[1]]
        packet = str(getattr(target, "overloadpacket", target))
        word = packet.rpartition(".")[2]
        check_options(packet, node.kwargs)
        args = list(node.args)
        if word in UNARY:
            one = self.value(args[0])
            return replace(one, text=UNARY[word].format(one.text))
        if word in BINARY or word in COMPARED:
            return self.binary(word, args, node.kwargs)
        if word in ("var", "var_mean"):
            return self.variance(word, args, node)
        if word in REDUCED:
            return self.reduced(word, args, node)
        if word in PASSED:
            return self.value(args[0])
        if word in SHAPED:
            return self.shaped(self.value(args[0]), node)
        if word in ("permute", "t", "transpose"):
            return self.permuted(word, args)
        if word in ("mm", "bmm", "mv", "dot"):
            return self.multiplied(args, node)
        if word in ("where", "clamp", "clamp_min", "clamp_max", "pow", "full", "scalar_tensor"):
            return self.special(word, args, node)
        raise NotTraced(f"it uses '{packet}', which has no meaning here")

    def binary(self, word: str, args: Sequence[Any], more: Mapping[str, Any]) -> TracedValue:
        """Return an operation of two values, with the axes that both have."""
        alpha = more.get("alpha", 1)
        text = (BINARY | COMPARED)[word]
        left, right = self.value(args[0]), self.value(args[1])
        if word == "rsub":
            left, right = right, left
        if alpha != 1:
            right = replace(right, text=f"({right.text} * {number_text(alpha)})")
        return self.together(text, (left, right))

    def together(self, text: str, values: Sequence[TracedValue]) -> TracedValue:
        """Return a formula of values: those with fewer axes are spread over those of the others."""
        values = [self.settled(one) for one in values] if len(values) > 1 else values
        rank = max(len(one.axes) for one in values)
        padded = [(None,) * (rank - len(one.axes)) + one.axes for one in values]
        sizes = [(1,) * (rank - len(one.sizes)) + one.sizes for one in values]
        axes = tuple(next((one for one in axis if one), None) for axis in zip(*padded, strict=True))
        shown: list[str] = []
        for value, own in zip(values, padded, strict=True):
            is_spread = own != axes and any(own) and value.axes != axes
            inner = ", ".join(
                "1" if one is None else one for one, of in zip(own, axes, strict=True) if of
            )
            shown.append(f"reshape({value.text}, {inner})" if is_spread else value.text)
        shape = tuple(max(axis) for axis in zip(*sizes, strict=True))
        return TracedValue(text.format(*shown), axes, shape)

    def settled(self, value: TracedValue) -> TracedValue:
        """Return a value that is not turned: a Func has its labels in any order."""
        return self.named(value.text, value.axes, value.sizes) if value.is_turned else value

    def named(self, text: str, axes: Sequence[str | None], sizes: Sequence[int]) -> TracedValue:
        """Make a Func of a formula, because a reduction is computed once."""
        labels = tuple(one for one in axes if one is not None)
        name = f"step_{len(self.funcs)}"
        if not labels:
            raise NotTraced("it reduces all axes of a tensor")
        self.funcs.append(PlainFunc(name, labels, text))
        return TracedValue(_at(name, labels), tuple(axes), tuple(sizes))

    def variance(self, word: str, args: Sequence[Any], node: Any) -> Any:
        """Return a variance over some axes, and with `var_mean` the mean, too."""
        value = self.value(args[0])
        rank = len(value.axes)
        over = [args[1]] if isinstance(args[1], int) else args[1]
        given = node.kwargs.get("correction", args[2] if len(args) > 2 else None)
        less = 1 if given is None else given
        labels = [value.axes[one % rank] for one in over]
        keeps = node.kwargs.get("keepdim", False)
        mean = self.reduced("mean", [args[0], over, True], node)
        difference = self.together("({} - {})", (value, mean))
        square = replace(difference, text=f"({difference.text} * {difference.text})")
        count = " * ".join(f"len({one})" for one in labels)
        rest = f" - {less}" if less else ""
        found = self.over(square, over, f"rsum({{0}}, {{1}}) / ({count}{rest})", keeps=keeps)
        if word == "var":
            return found
        return found, replace(mean, axes=found.axes, sizes=found.sizes)

    def reduced(self, word: str, args: Sequence[Any], node: Any) -> TracedValue:
        """Return a reduction over some axes."""
        value = self.settled(self.value(args[0]))
        rank = len(value.axes)
        over: Any = args[1] if len(args) > 1 else node.kwargs.get("dim")
        chosen: list[int] = [over] if isinstance(over, int) else list(over or range(rank))
        keeps = args[2] if len(args) > 2 else node.kwargs.get("keepdim", False)
        return self.over(value, chosen, REDUCED[word], keeps=bool(keeps))

    def over(
        self, value: TracedValue, chosen: Sequence[int], formula: str, *, keeps: bool
    ) -> TracedValue:
        """Return a formula of a value with some of its axes reduced."""
        rank = len(value.axes)
        dims = {one % rank for one in chosen}
        labels = [value.axes[one] for one in sorted(dims) if value.axes[one] is not None]
        if not labels:
            raise NotTraced("it reduces axes of one element")
        names = ", ".join(str(one) for one in labels)
        count = " * ".join(f"len({one})" for one in labels)
        text = formula.format(value.text, names, count)
        axes = [None if at in dims else one for at, one in enumerate(value.axes)]
        sizes = [1 if at in dims else one for at, one in enumerate(value.sizes)]
        found = self.named(text, axes, sizes)
        if keeps:
            return found
        kept = [at for at in range(rank) if at not in dims]
        return TracedValue(
            found.text, tuple(found.axes[at] for at in kept), tuple(found.sizes[at] for at in kept)
        )

    def shaped(self, value: TracedValue, node: Any) -> TracedValue:
        """Return a value with axes of one element more or fewer, or spread over more elements."""
        sizes = tuple(int(one) for one in node.meta["val"].shape)
        kept = [one for one in value.axes if one is not None]
        wanted = [one for one in self.axes(sizes) if one is not None]
        is_spread = str(node.target.overloadpacket).endswith("expand")
        if kept != wanted and not is_spread:
            raise NotTraced("it joins axes of a tensor, or takes them apart")
        rank = len(value.axes)
        if is_spread:
            more = len(sizes) - rank
            axes = (None,) * more + value.axes
            return replace(value, axes=axes, sizes=(1,) * more + value.sizes)
        return replace(value, axes=self.axes(sizes), sizes=sizes)

    def permuted(self, word: str, args: Sequence[Any]) -> TracedValue:
        """Return a value with its axes in another order: a formula goes by labels."""
        value = self.value(args[0])
        rank = len(value.axes)
        order = list(range(rank))
        if word == "permute":
            order = [one % rank for one in args[1]]
        elif word == "t":
            order.reverse()
        else:
            one, other = args[1] % rank, args[2] % rank
            order[one], order[other] = order[other], order[one]
        axes = tuple(value.axes[at] for at in order)
        is_turned = [one for one in axes if one] != [one for one in value.axes if one]
        sizes = tuple(value.sizes[at] for at in order)
        return TracedValue(value.text, axes, sizes, is_turned != value.is_turned)

    def multiplied(self, args: Sequence[Any], node: Any) -> TracedValue:
        """Return a product of matrices or vectors."""
        left, right = self.value(args[0]), self.value(args[1])
        sizes = tuple(int(one) for one in node.meta["val"].shape)
        inner = left.axes[-1]
        if inner is None:
            raise NotTraced("it multiplies matrices with an axis of one element")
        text = f"rdot({left.text}, {right.text}, {inner})"
        return self.named(text, self.axes(sizes), sizes)

    def special(self, word: str, args: Sequence[Any], node: Any) -> TracedValue:
        """Return what has rules of its own."""
        if word in ("full", "scalar_tensor"):
            return TracedValue(number_text(args[1] if word == "full" else args[0]), (), ())
        if word == "where":
            values = [self.value(one) for one in args]
            return self.together("where({}, {}, {})", values)
        if word == "pow":
            if args[1] == 2:
                one = self.value(args[0])
                return replace(one, text=f"({one.text} * {one.text})")
            return self.together("pow({}, {})", [self.value(args[0]), self.value(args[1])])
        least = args[1] if len(args) > 1 and word != "clamp_max" else node.kwargs.get("min")
        most = (
            args[2] if len(args) > 2 else args[1] if word == "clamp_max" else node.kwargs.get("max")
        )
        found = self.value(args[0])
        if least is not None:
            found = self.together("maximum({}, {})", [found, self.value(least)])
        if most is not None:
            found = self.together("minimum({}, {})", [found, self.value(most)])
        return found


def check_options(packet: str, options: Mapping[str, Any]) -> None:
    """Refuse what an operation is told by name, unless its formula says the same.

    Raises NotTraced.
    """
    for name, value in options.items():
        if name == "dtype" and value is not None and not value.is_floating_point:
            raise NotTraced(f"'{packet}' makes {str(value).removeprefix('torch.')} of its values")
        if name not in TOLD and value is not None:
            raise NotTraced(f"'{packet}' is told '{name}', which has no meaning here")


def _at(name: str, labels: Sequence[str]) -> str:
    return f"{name}[{', '.join(labels)}]"


def _refused(name: str, why: str) -> DtpolyError:
    source = Source(f"torch:{name}", f"torch:{name}")
    title = f"no algorithm can be made of '{name}'"
    hint = "write the algorithm in a .dt file: docs/language.md"
    span = Span(source, 0, len(source.text))
    return DtpolyError((Diagnostic("DT318", Severity.ERROR, title, span, why, hint=hint),))

"""Read a wrapper: which kernels it launches, on what, and which calls it refuses.

The wrapper is run on symbols, with a name for each extent and stride of the caller's tensors. Only
statements of the form that dtpoly emits are read; the helpers that a wrapper calls are known by
their text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from dtpoly.verify.algebra.extents import size_name
from dtpoly.verify.algebra.kinds import BOOL, HALF, NEAR, stored
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.shared import rank
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import Whole, both, compare, name, negation, number
from dtpoly.verify.plan.expressions import DEVICES, condition, is_device, look_at, value
from dtpoly.verify.plan.harmless import check_calls
from dtpoly.verify.plan.held import Held, Kind, Maybe, Opaque, Product, TensorOf, Wrapper
from dtpoly.verify.plan.interface import OUT, check_signature
from dtpoly.verify.plan.launchers import launch_by
from dtpoly.verify.plan.launching import launch
from dtpoly.verify.plan.left_out import is_about_passing, leave_out
from dtpoly.verify.plan.panels import over_panels
from dtpoly.verify.plan.traced import check_like, look_at_operator
from dtpoly.verify.triton.access import Array, Launch
from dtpoly.verify.triton.unit.unit import Unit

# The text of the device that a caller gives, or of the device of `out`.
GIVEN = re.compile(r"dt_device\(\w+(, out)?\)")
# Calls of these helpers only refuse or only look at something.
CHECKS = ("dt_check_out", "dt_check", "dt_check_atomic", "dt_promoted")


def _block(wrapper: Wrapper, body: Sequence[ast.stmt]) -> bool:
    """Read statements; True if they end the call."""
    return any(_statement(wrapper, statement) for statement in body)


def _statement(wrapper: Wrapper, node: ast.stmt) -> bool:
    """Read one statement; True if it ends the call."""
    if wrapper.is_over and not isinstance(node, ast.Return):
        raise Unread(node.lineno, "what is done after a loop over panels")
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return False
        case ast.If(test=test, body=[ast.Raise()], orelse=[]):
            _refusal(wrapper, test)
            return False
        case ast.If(test=test, body=body, orelse=orelse):
            _branch(wrapper, test, body, orelse)
            return False
        case ast.Assign(targets=[target], value=expression):
            _assign(wrapper, target, value(wrapper, expression))
            return False
        case ast.For():
            over_panels(wrapper, node, _statement)
            return False
        case ast.Expr(value=ast.Call(func=ast.Subscript() as func) as call):
            if wrapper.file.again:
                raise Unread(node.lineno, "a launch that 'dt_again' does not see")
            launch(wrapper, call, func)
            return False
        case ast.Expr(value=ast.Call(func=ast.Name(id=one)) as call) if one in wrapper.file.values:
            launch_by(wrapper, call, one)
            return False
        case ast.Expr(value=ast.Call(func=ast.Name(id=one), args=args)) if one in CHECKS:
            wrapper.must_know(one, node.lineno)
            if one == "dt_check":
                look_at(wrapper, args)
            return False
        case ast.Return(value=ast.Name(id=one)) if one == OUT:
            wrapper.result = wrapper.tensor(wrapper.names.get(one), node).name
            return True
        case _:
            first = ast.unparse(node).splitlines()[0]
            raise Unread(node.lineno, f"a statement of the wrapper: '{first}'")


def _refusal(wrapper: Wrapper, test: ast.expr) -> None:
    """Read `if test: raise`: the proof need not hold for the calls that are refused.

    If the test cannot be read, the proof must hold for these calls too. The same is so if a launch
    stands before the test, because that launch has run. A counterexample is then not sure, since it
    may be one of the refused calls.
    """
    if is_about_passing(wrapper, test):
        return  # the same sizes may be passed
    if not wrapper.launches:
        with suppress(Unread):
            wrapper.facts.append(negation(condition(wrapper, test)))
            return
    wrapper.skipped.append(test.lineno)


def _asked_of(test: ast.expr) -> ast.Name | None:
    """Return the name in `not dt_is_current(name)`, which asks whether it is the current device."""
    match test:
        case ast.UnaryOp(
            op=ast.Not(),
            operand=ast.Call(
                func=ast.Name(id="dt_is_current"), args=[ast.Name() as one], keywords=[]
            ),
        ):
            return one
        case _:
            return None


def _branch(wrapper: Wrapper, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
    """Read a branch of one of the forms that wrappers have. Raises Unread."""
    text = ast.unparse(test)
    match body:
        case [ast.Return(value=ast.Call() as again)] if (
            isinstance(test, ast.Call) and ast.unparse(test.func) == "dt_is_traced" and not orelse
        ):
            try:
                look_at_operator(wrapper, test, again)
            except Unread as error:
                wrapper.doubts.append((error.line, error.what))
            return
        case [ast.With(items=[there], body=[ast.Return(value=ast.Call() as again)])] if (
            (device := _asked_of(test)) is not None
            and not orelse
            and _is_same(wrapper, again)
            and is_device(wrapper, device)
            and ast.unparse(there) == f"torch.cuda.device({device.id})"
        ):
            wrapper.must_know("dt_is_current", test.lineno)
            wrapper.is_there = True
            return
        case [ast.Return(value=ast.Name(id=one))] if text == f"not {one}.numel()" and not orelse:
            array = wrapper.tensor(wrapper.names.get(one), test)
            if wrapper.launches:
                # The launches before ran for tensors without elements, too.
                raise Unread(test.lineno, f"'if {text}' behind a launch")
            wrapper.empty.append((test.lineno, array.name))
            wrapper.facts.extend(compare(">=", extent, number(1)) for extent in array.shape)
            return
        case [ast.Assign(targets=[ast.Name(id=one)], value=made)] if (
            text == f"{one} is None" and one != OUT and not orelse
        ):
            leave_out(wrapper, one, made)
            return
        case [ast.Assign(targets=[ast.Name(id=one)], value=made)] if (
            text == f"{OUT} is None" and one == OUT
        ):
            held = value(wrapper, made)
            array = wrapper.tensor(held, made)
            wrapper.maker = ast.unparse(made.func) if isinstance(made, ast.Call) else ""
            # A result that the caller gives is checked before it is taken for one that
            # would be made here.
            _check_out(wrapper, array, one, orelse, test.lineno)
            _bind(wrapper, one, held, test.lineno)
            return
        case _ if (names := _counts(test)) and not orelse:
            # Without programs there is no launch, and a launch of no programs would do
            # nothing.
            before, apart = len(wrapper.launches), wrapper.apart
            programs = [_programs(wrapper.names.get(one)) for one in names]
            _launching(wrapper, body)
            launched = [_all_programs(one) for one in wrapper.launches[before:]]
            if launched and (None in programs or launched != programs):
                raise Unread(test.lineno, f"a launch only if '{text}'")
            # The sizes that a launch refuses are refused for later ones too, if the
            # launch is there for such sizes.
            new = wrapper.apart - apart
            wrapper.apart = apart | {
                one
                for one in sorted(new, key=rank)
                if any(_is_launched(wrapper.run, some, one) for some in programs)
            }
            return
        case _:
            raise Unread(test.lineno, f"a branch of the wrapper: 'if {text}'")


def _launching(wrapper: Wrapper, body: list[ast.stmt]) -> None:
    """Read what is done only if there are programs: memory for the launches, and launches.

    Nothing else may stand there, because it would be done, or refused, for some calls only.
    """
    outside = dict(wrapper.names)
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=one)], value=ast.Call(func=made)) if (
                one not in outside and ast.unparse(made) == "torch.empty"
            ):
                pass
            case ast.Expr(value=ast.Call(func=ast.Subscript())):
                pass
            case ast.Expr(value=ast.Call(func=ast.Name(id=one))) if one in wrapper.file.values:
                pass
            case _:
                what = ast.unparse(statement).splitlines()[0]
                raise Unread(statement.lineno, f"'{what}' only if there are programs")
        _statement(wrapper, statement)
    wrapper.names.clear()
    wrapper.names.update(outside)


def _counts(test: ast.expr) -> list[str]:
    """Return the numbers of programs of which at least one must not be 0."""
    match test:
        case ast.Name(id=one):
            return [one]
        case ast.BinOp(left=ast.Name(id=one), op=ast.Add(), right=ast.Name(id=other)):
            return [one, other]
        case _:
            return []


def _is_same(wrapper: Wrapper, call: ast.Call) -> bool:
    """True if a call passes all parameters of the wrapper to the wrapper itself."""
    texts = [ast.unparse(arg) for arg in call.args]
    texts += [f"{k.arg}" for k in call.keywords if ast.unparse(k.value) == k.arg]
    return ast.unparse(call.func) == wrapper.wanted and texts == list(wrapper.parameters)


def _check_out(wrapper: Wrapper, array: Array, one: str, orelse: list[ast.stmt], line: int) -> None:
    """Check that a result that the caller gives is like the one that would have been made."""
    match orelse:
        case [
            ast.Expr(
                value=ast.Call(
                    func=ast.Name(id="dt_check_out"),
                    args=[ast.Name(id=given), extents, dtype, device, ast.Dict(keys, tensors)],
                    keywords=[],
                )
            )
        ] if given == one and one not in wrapper.names and _are_distinct(keys):
            wrapper.must_know("dt_check_out", line)
            shape, kind = value(wrapper, extents), value(wrapper, dtype)
            is_same = isinstance(kind, Kind) and kind.is_torch and kind.name == array.kind
            if is_same and shape == array.shape and is_device(wrapper, device):
                inputs = {ast.unparse(tensor) for tensor in tensors}
                if inputs >= {n for n, held in wrapper.names.items() if _is_input(held, n)}:
                    return
        case _:
            pass
    wrapper.doubts.append((line, f"what is done with an '{one}' that the caller gives"))


def _are_distinct(keys: Sequence[ast.expr | None]) -> bool:
    """Whether all keys are strings and no two are equal.

    If two values have one key, Python keeps only the last of them.
    """
    words = [key.value for key in keys if isinstance(key, ast.Constant)]
    return all(isinstance(one, str) for one in words) and len({*words}) == len(keys)


def _is_input(held: Held, one: str) -> bool:
    return isinstance(held, TensorOf) and held.array.name == one and one != "out"


def _is_launched(run: ProofRun, programs: Sequence[Whole] | None, size: Whole) -> bool:
    """True if there are programs wherever a size is just below 2^31."""
    large = compare(">=", size, number(HALF - NEAR))
    run.about(0, "a launch has programs where a size is just below 2^31")
    return programs is not None and all(
        is_affine(both(compare(">=", one, number(1)), large))
        and run.holds(compare(">=", one, number(1)), set_of(large))
        for one in programs
    )


def _programs(held: Held | None) -> list[Whole] | None:
    match held:
        case Product(factors=factors):
            return sorted((one for one in factors if one.constant != 1), key=rank)
        case Whole():
            return [] if held.constant == 1 else [held]
        case _:
            return None


def _all_programs(one: Launch) -> list[Whole]:
    axes = one.grid if one.turns is None else (one.turns,)
    return sorted((extent for axis in axes for extent in axis if extent.constant != 1), key=rank)


def _assign(wrapper: Wrapper, target: ast.expr, held: Held) -> None:
    """Bind one name, or several names to the parts of a tuple."""
    match target, held:
        case ast.Name(id=one), _:
            is_same = held == wrapper.names.get(one)
            if one in wrapper.parameters and not is_same and not _is_where(one, held):
                raise Unread(target.lineno, f"'{one}' is given by the caller, and set")
            _check_device(wrapper, held, target.lineno)
            if isinstance(held, TensorOf) and held.array.name in wrapper.inputs - {one}:
                raise Unread(target.lineno, f"'{one}', another name for '{held.array.name}'")
            _bind(wrapper, one, held, target.lineno)
        case ast.Tuple(elts=elements), tuple() if len(elements) == len(held):
            for element, part in zip(elements, held, strict=True):
                _assign(wrapper, element, part)
        case _:
            raise Unread(target.lineno, f"an assignment to '{ast.unparse(target)}'")


def _check_device(wrapper: Wrapper, held: Held, line: int) -> None:
    """Refuse a second device for what the wrapper does. Raises Unread.

    The device is that of the tensors; if there are no tensors, it is one that the caller asks for.
    """
    if isinstance(held, Opaque) and held.text.startswith(DEVICES):
        if any(
            isinstance(one, Opaque) and one.text.startswith(DEVICES)
            for one in wrapper.names.values()
        ):
            raise Unread(line, "a second device")
        if held.text.startswith(DEVICES[1]) and not GIVEN.fullmatch(held.text):
            raise Unread(line, f"'{held.text}', which is no device that a caller gives")
        if wrapper.inputs and not held.text.startswith(DEVICES[0]):
            raise Unread(line, f"'{held.text}' for the device of the tensors")


def _is_where(one: str, held: Held) -> bool:
    """Whether the value is the device that a caller may give, as `dt_device` returns it."""
    return one == "device" and isinstance(held, Opaque) and held.text.startswith("dt_device(")


def _bind(wrapper: Wrapper, one: str, held: Held, line: int) -> None:
    """Bind a name; a tensor that was just made gets this name too."""
    if isinstance(held, TensorOf) and held.array.name == "?":
        rank = len(held.array.shape)
        strides = tuple(name(f"{one}.stride({axis})") for axis in range(rank))
        if one in wrapper.arrays:
            raise Unread(line, f"'{one}' is made twice")
        made = Array(one, strides, held.array.shape, held.array.kind)
        held = TensorOf(made)
        wrapper.arrays[one] = made
    wrapper.names[one] = held
    wrapper.is_set.add(one)


def wrapper_of(
    run: ProofRun,
    file: Unit,
    wanted: str,
    inputs: Sequence[str],
    tensors: Mapping[str, int],
    declared: Mapping[str, str],
    scalars: Mapping[str, str],
    labels: Sequence[str],
    left_out: Mapping[str, Whole],
) -> Wrapper:
    """Read the wrapper with the given name, for tensors of these ranks and declared types.

    A call must pass the sizes of the labels in `labels`, and may leave out those in `left_out`.
    """
    definition = file.plain.get(wanted)
    if definition is None:
        raise Unread(1, f"there is no function '{wanted}'")
    arrays = {
        one: Array(
            one,
            tuple(name(f"{one}.stride({axis})") for axis in range(rank)),
            tuple(name(f"{one}.shape[{axis}]") for axis in range(rank)),
            declared.get(one) or stored(frozenset({one})),
        )
        for one, rank in tensors.items()
    }
    names: dict[str, Held] = {one: TensorOf(array) for one, array in arrays.items()}
    names |= {one: Given(one, kind == BOOL) for one, kind in scalars.items()}
    names |= {label: name(size_name(label)) for label in labels}
    names |= {label: Maybe(label) for label in left_out}
    parameters = (*definition.args.args, *definition.args.kwonlyargs)
    callers = frozenset(one for one in tensors if one not in declared)
    wrapper = Wrapper(
        run,
        file,
        wanted,
        names,
        arrays,
        callers,
        tuple(one.arg for one in parameters),
        scalars,
        inputs=frozenset(arrays),
        left_out=left_out,
    )
    for array in arrays.values():
        wrapper.facts += [compare(">=", extent, number(0)) for extent in array.shape]
    wrapper.facts += [compare(">=", name(size_name(label)), number(0)) for label in labels]
    defaults = [one for one in (*definition.args.defaults, *definition.args.kw_defaults) if one]
    if any(ast.unparse(one) != "None" for one in defaults):
        raise Unread(definition.lineno, f"the defaults of '{wanted}'")
    if file.again:
        wrapper.must_know("dt_again", definition.lineno)
    started = dict(names)
    check_signature(definition, inputs)
    check_calls(file, definition)
    if not _block(wrapper, definition.body):
        raise Unread(definition.lineno, f"'{wanted}' returns nothing")
    if wrapper.launches and not wrapper.is_there:
        raise Unread(definition.lineno, "launches on a device that may not be that of the tensors")
    for one in scalars:
        if one not in wrapper.checked:
            raise Unread(definition.lineno, f"nobody looks what '{one}' is")
    for one in tensors:
        if one not in wrapper.checked:
            raise Unread(definition.lineno, f"the rank and the type of '{one}' are not looked at")
    for line, array_name in wrapper.empty:
        if array_name != wrapper.result:
            raise Unread(line, f"'{array_name}' is returned, and is not the result")
    if wrapper.like and wrapper.result is not None:
        try:
            check_like(wrapper, started, wrapper.arrays[wrapper.result])
        except Unread as error:
            # Calls that torch does not trace remain as they were, so this is only a
            # doubt.
            wrapper.doubts.append((error.line, error.what))
    return wrapper

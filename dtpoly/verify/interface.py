"""A file's wrappers, kernels and launches in; Unread, where these do not fit as emitted ones do.

Python, torch and Triton bind what is given by position and by name. What is read of a file holds
only if that is bound as it is read: so there is one way to say it, and no other is read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from dtpoly.verify.values import Unread

OUT, OFFSET = "out", "offset"
CONSTANTS = ("tl.constexpr", "triton.language.constexpr")
# What Triton 3.6 to 3.9 takes of a launch for itself: a kernel that has such a parameter is not
# given what the launch says, or is compiled otherwise.
LAUNCH = frozenset(
    (
        *("num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims", "ptx_version"),
        *("ptx_options", "ir_override", "enable_fp_fusion", "enable_reflect_ftz", "launch_pdl"),
        *("launch_cooperative_grid", "launch_cluster", "supported_fp8_dtypes", "extern_libs"),
        *("deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision", "debug", "arch"),
        *("allowed_dot_input_precisions", "max_num_imprecise_acc_default", "backend_name"),
        *("sanitize_overflow", "instrumentation_mode", "waves_per_eu", "matrix_instr_nonkdim"),
        *("kpack", "allow_flush_denorm", "schedule_hint", "warp_size", "optimize_epilogue"),
        *("minRegAutoWS", "maxRegAutoWS", "pingpongAutoWS", "grid", "warmup", "stream", "device"),
        *("device_type", "pre_hook", "self", "args", "kwargs"),
    )
)
MOST_WARPS = 32
MOST_STAGES = 2**31 - 1  # Triton takes a number of 32 bits


def check_signature(definition: ast.FunctionDef, inputs: Sequence[str]) -> None:
    """A wrapper takes the inputs in their order, and what it may return into by name."""
    given = definition.args
    is_so = [one.arg for one in given.args] == list(inputs) and not given.defaults
    is_so = is_so and not given.posonlyargs and given.vararg is None and given.kwarg is None
    if not is_so or OUT not in [one.arg for one in given.kwonlyargs]:
        wanted = ", ".join((*inputs, f"*, {OUT}=None"))
        raise Unread(definition.lineno, f"a wrapper that does not take ({wanted})")


def check_kernel(definition: ast.FunctionDef, named: AbstractSet[str]) -> None:
    """A launch binds all parameters of a kernel, and what is constant stays what it is.

    `named` are those that may be given by name.
    """
    given = definition.args
    if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg:
        raise Unread(definition.lineno, f"the parameters of '{definition.name}'")
    for one in given.args:
        if one.arg in LAUNCH & named:
            what = f"'{one.arg}', a parameter that Triton takes for an option of the launch"
            raise Unread(definition.lineno, what)
    fixed = constants_of(definition)
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in fixed:
            raise Unread(node.lineno, f"'{node.id}', which is constant, is set")


def check_call(definition: ast.FunctionDef, call: ast.Call, count: int) -> None:
    """What a launcher keeps for like calls: arguments by position, constants by name."""
    given = definition.args.args
    fixed = constants_of(definition)
    named = {str(one.arg) for one in call.keywords if one.arg is not None}
    if any(one.arg in fixed for one in given[:count]):
        raise Unread(call.lineno, "a constant that a launcher is not given by its name")
    if any(one.arg in named for one in given if one.arg not in fixed):
        raise Unread(call.lineno, "a launcher that is given by name what is no constant")
    if OFFSET not in named:
        raise Unread(call.lineno, f"a launcher that is not given '{OFFSET}'")


def check_options(call: ast.Call) -> None:
    """Numbers of warps and stages that Triton takes."""
    for one in call.keywords:
        match one:
            case ast.keyword(arg="num_warps", value=ast.Constant(value=int() as count)):
                is_so = 0 < count <= MOST_WARPS and count & (count - 1) == 0
            case ast.keyword(arg="num_stages", value=ast.Constant(value=int() as count)):
                is_so = 0 <= count <= MOST_STAGES
            case ast.keyword(arg="num_warps" | "num_stages"):
                is_so = False
            case _:
                continue
        if not is_so:
            raise Unread(call.lineno, f"'{one.arg}={ast.unparse(one.value)}'")


def constants_of(definition: ast.FunctionDef) -> frozenset[str]:
    """The parameters that a kernel is compiled for."""
    return frozenset(
        one.arg
        for one in definition.args.args
        if one.annotation is not None and ast.unparse(one.annotation) in CONSTANTS
    )

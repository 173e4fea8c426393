"""Check that the parameters of kernels and launches are bound as the verifier reads them.

Python and Triton bind arguments by position and by name, in several ways. What is proved of
a file holds only if arguments are bound as the verifier thinks. So it accepts only the one way in
which emitted files are written, and raises Unread for any other.
"""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet

from dtpoly.verify.algebra.kernel_values import Unread

OUT, OFFSET = "out", "offset"
CONSTANTS = ("tl.constexpr", "triton.language.constexpr")
# Arguments of a launch that Triton 3.6 to 3.9 takes for itself. A kernel with such a parameter
# would not be given what the launch says, or would be compiled in another way.
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


def check_kernel(definition: ast.FunctionDef, named: AbstractSet[str]) -> None:
    """Raise Unread unless a launch binds all parameters of a kernel, and constants are never set.

    `named` are the parameters that may be given by name.
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


def check_options(call: ast.Call) -> None:
    """Raise Unread for numbers of warps or stages that Triton does not accept."""
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
    """Return the parameters of a kernel that are constants (constexpr) when it is compiled."""
    return frozenset(
        one.arg
        for one in definition.args.args
        if one.annotation is not None and ast.unparse(one.annotation) in CONSTANTS
    )

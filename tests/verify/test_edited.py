"""Edits of a wrapper, one by one: none that changes what it does is proved."""

import pytest

from dtpoly.codegen.prelude import SHARED
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import ROOT, changed, program_of, text_of, written

SOFTMAX = program_of(ROOT / "examples/softmax.dt")
OFFSET = "offset=dt_offset(max(x_size, y_size), A, out)"
OUT = "dt_check_out(out, (x_size, y_size)"
REAL = "    real = dt_real(A.dtype)\n"
LIKE = "return torch.empty((x_size, y_size), dtype=A.dtype, device=A.device)"

WRONG: dict[str, tuple[str, str]] = {
    "out is an input by default": ("out=None):", "out=A):"),
    "a module is something else": (REAL, f"{REAL}    torch = triton\n"),
    "the kernel is another": (REAL, f"{REAL}    softmax_kernel = dt_real\n"),
    "an input is another": (REAL, f"{REAL}    A = A.t()\n"),
    "a helper is another": (REAL, f"    dt_offset = dt_real\n{REAL}"),
    "narrow numbers": ("real=real,", "real=tl.float16,"),
    "offsets of 32 bits": (OFFSET, "offset=tl.int32"),
    "a size is not looked at": (OFFSET, "offset=dt_offset(x_size, A, out)"),
    "the result is not looked at": (OFFSET, "offset=dt_offset(max(x_size, y_size), A)"),
    "an input is not looked at": (OFFSET, "offset=dt_offset(max(x_size, y_size), out)"),
    "lanes are always full": ("even=x_size % 4 == 0", "even=True"),
    "lanes are thought full": ("even=x_size % 4 == 0", "even=x_size % 2 == 0"),
    "strides of another": ("*out.stride()", "*A.stride()"),
    "the input is returned": ("        )\n    return out", "        )\n    return A"),
    "the input is not checked": ('device = dt_check("A", A, 2, dt_floats)', "device = A.device"),
    "another rank": ('dt_check("A", A, 2', 'dt_check("A", A, 3'),
    "the result may be the input": ('{"A": A}', "{}"),
    "out has another shape": ("dt_check_out(out, (x_size, y_size)", "dt_check_out(out, (2, 2)"),
    "torch is told another shape": (LIKE, LIKE.replace("x_size, y_size", "y_size, x_size")),
    "torch is told another type": (LIKE, LIKE.replace("A.dtype", "torch.float16")),
    "the operator gets other things": ("softmax_operator(out, A)", "softmax_operator(A, out)"),
    "the operator runs another": ("softmax, softmax_like", "softmax_like, softmax_like"),
    "the operator takes another": ('"Tensor A"', '"Tensor B"'),
    "the operator's name is another's": ("hexdigest()[:32]", "hexdigest()[:0]"),
    "the number is that of another file": ("= function.__code__.co_filename", "= torch.__file__"),
    "only the head is numbered": ("lines = lines[1:]", "lines = lines[:-1]"),
    "any operator of that name": ("[name]) == digest", "[name]) != digest"),
    "an operator that is there is taken": ("and not dt_is_ours(name, digest)", "and False"),
    "the operator is registered by another name": ('f"dtpoly::{name}"', '"dtpoly::softmax"'),
    "tracing is not seen": ("dt_is_traced(A)", "dt_is_traced()"),
    "tracing returns the input": ("return softmax_operator(out, A)", "return A"),
    "another call on another GPU": ("return softmax(A, out=out)", "return softmax(A)"),
    "the result is on the CPU": ("dtype=A.dtype, device=device", "dtype=A.dtype"),
    "the result has another type": ("dtype=A.dtype, device", "dtype=torch.float16, device"),
    "out is asked for its own device": (f"{OUT}, A.dtype, device", f"{OUT}, A.dtype, out.device"),
    "out is asked for its own shape": (f"{OUT}, A.dtype", "dt_check_out(out, out.shape, A.dtype"),
    "out is asked for its own type": (f"{OUT}, A.dtype", f"{OUT}, out.dtype"),
    "out may be an input by another name": ('{"A": A}', '{"A": out}'),
    "the first size for the largest": (
        "dt_offset(max(x_size, y_size)",
        "dt_offset(max(x_size, y_size, key=bool)",
    ),
    "a check that is told more": (
        'dt_check("A", A, 2, dt_floats)',
        'dt_check(*("A", A, 2, dt_floats))',
    ),
    "a helper that is told more": (REAL, "    real = dt_real(A.dtype, **{})\n"),
    "a launch is left out": ("    if programs:", "    if not programs:"),
    "the last block is left out": ("(x_size + 3) // 4", "x_size // 4"),
    "one program": ('dt_grid("softmax", programs)', 'dt_grid("softmax", 1)'),
    "it is cleared": ("    return out\n\n\n# What", "    out.zero_()\n    return out\n\n\n# What"),
    # Python takes one whole side of `or`, and of several lanes it takes none.
    "lanes by another word": ("(x < x_size) | even", "(x < x_size) or even"),
}
RIGHT: dict[str, tuple[str, str]] = {
    "other stages": ("num_warps=32", "num_warps=32, num_stages=7"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_is_not_proved(name: str) -> None:
    report = verify(SOFTMAX, changed(text_of(SOFTMAX), *WRONG[name]))
    assert report.verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    "before",
    [
        "    if not dt_is_current(device)",
        "    x_size, y_size = A.shape\n    real",
        "    if out is None",
    ],
)
@pytest.mark.parametrize(
    "device", ["dt_device(None)", "dt_device(device)", 'dt_check("A", out, 2, 1)']
)
def test_all_is_done_on_the_device_of_the_tensors(before: str, device: str) -> None:
    """Programs without tensors have another function, which says where a result is made."""
    helper = f"{SHARED['dt_device']}\n\ndef dt_check("
    text = changed(text_of(SOFTMAX), "def dt_check(", helper)
    assert verify(SOFTMAX, text).verdict is Verdict.PROVED
    other = changed(text, before, f"    device = {device}\n{before}")
    assert verify(SOFTMAX, other).verdict is not Verdict.PROVED


@pytest.mark.parametrize("inputs", ['{"A": A, "A": B}', '{"A": A, **{"A": B}}', "{1: A, True: B}"])
def test_each_input_is_held_against_the_result(inputs: str) -> None:
    """Of two values with one key Python keeps the last."""
    program = written("Func f; In A, B; Var x; f[x] = A[x] - B[x]; f.block(x:64); f.compile();")
    text = text_of(program)
    assert verify(program, text).verdict is Verdict.PROVED
    other = changed(text, '{"A": A, "B": B}', inputs)
    assert verify(program, other).verdict is not Verdict.PROVED


def test_operands_are_as_wide_as_what_is_computed_of_them() -> None:
    """An input of f64 makes all of it f64, also what is multiplied of others."""
    program = written(
        "Func f; In A, B, C; Var m, n; RVar k;"
        "f[m, n] = rdot(A[m, k], B[k, n], k) + C[m, n]; f.block(m:16, n:16);"
        "f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    text = text_of(program)
    assert verify(program, text).verdict is Verdict.PROVED
    narrow = changed(text, "B.dtype), real)", "B.dtype), tl.float32)")
    assert verify(program, narrow).verdict is not Verdict.PROVED


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_is_proved(name: str) -> None:
    report = verify(SOFTMAX, changed(text_of(SOFTMAX), *RIGHT[name]))
    assert report.verdict is Verdict.PROVED, report.layers

"""Edits of a file, one by one: none that changes what its function does is proved."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import ROOT, changed, program_of, text_of, written

SOFTMAX = program_of(ROOT / "examples/softmax.dt")
TENSORS = '"tensors": {"A": "x_size y_size", "softmax": "x_size y_size"}'
PROGRAMS = '"programs": ("cdiv(x, 4)",)'
RESULT = '{"shape": ("x", "y"), "dtype": "A"}'
MADE = "softmax = dt_function(softmax_plan, softmax_kernel)"

WRONG: dict[str, tuple[str, str]] = {
    "narrow numbers": ('"real": "real(A)"', '"real": "stored(A)"'),
    "numbers of another type": ('"real": "real(A)"', '"real": "f32"'),
    "a size is not looked at": ('"indices": ("x", "y")', '"indices": ("x",)'),
    "nothing is looked at": ('    "indices": ("x", "y"),\n', ""),
    "lanes are always full": ("x % 4 == 0 and y % 512 == 0", "x == x"),
    "lanes are thought full": ("x % 4 == 0 and", "x % 2 == 0 and"),
    "rows begin at fours": ('"fours": ("A.stride(0)", ', '"fours": ('),
    "other rows begin at fours": ('"softmax.stride(0)"', '"A.stride(0)"'),
    "columns begin at fours": ('"softmax.stride(0)"', '"softmax.stride(1)"'),
    "strides of another": (
        TENSORS,
        '"tensors": {"softmax": "x_size y_size", "A": "x_size y_size"}',
    ),
    "the result is the input": (TENSORS, TENSORS.replace('"softmax"', '"A"')),
    "a size is another": ('"x_size": "x"', '"x_size": "y"'),
    "a size is one less": ('"y_size": "y"', '"y_size": "y - 1"'),
    "a size is a number": ('"y_size": "y"', '"y_size": "512"'),
    "the sizes are exchanged": (
        '"sizes": {"x": "A.shape[0]", "y": "A.shape[1]"}',
        '"sizes": {"x": "A.shape[1]", "y": "A.shape[0]"}',
    ),
    "the size of another axis": ('"y": "A.shape[1]"', '"y": "A.shape[0]"'),
    "another rank": ('"A": ("float", 2)', '"A": ("float", 3)'),
    "another dtype": ('"A": ("float", 2)', '"A": ("f32", 2)'),
    "another result": ('"results": {"softmax"', '"results": {"total"'),
    "the result has another shape": (RESULT, '{"shape": ("y", "x"), "dtype": "A"}'),
    "the result has another dtype": (RESULT, '{"shape": ("x", "y"), "dtype": "f16"}'),
    "the result is wider": (RESULT, '{"shape": ("x", "y"), "dtype": "f64"}'),
    "a launch is left out": (PROGRAMS, '"programs": ()'),
    "the last block is left out": (PROGRAMS, '"programs": ("x // 4",)'),
    "larger blocks": (PROGRAMS, '"programs": ("cdiv(x, 8)",)'),
    "one program": (PROGRAMS, '"programs": ("1",)'),
    "more programs": (PROGRAMS, '"programs": ("cdiv(x, 4)", "2")'),
    "a truth that no plan has": ('"even": "', '"even": "True or '),
    "a helper is another": ("def dt_offset(", "def dt_offset(more: Any = 0, *, "),
    "the result is cleared": (MADE, f"{MADE}\nsoftmax.out.zero_()"),
    "another function of that name": (MADE, f"{MADE}\n\n\ndef softmax_(A):\n    return A"),
    "another kernel of that name": (MADE, f"softmax_kernel = 1\n{MADE}"),
    "a module is something else": (MADE, f"torch = 1\n{MADE}"),
    # Python takes one whole side of `or`, and of several lanes it takes none.
    "lanes by another word": ("(x < x_size) | even", "(x < x_size) or even"),
}
RIGHT: dict[str, tuple[str, str]] = {
    "other stages": ('"num_warps": 32', '"num_warps": 32, "num_stages": 7'),
    "other warps": ('"num_warps": 32', '"num_warps": 4'),
    "fewer full lanes": ("y % 512 == 0", "y % 1024 == 0"),
    "more is looked at": ('"indices": ("x", "y")', '"indices": ("x", "y", "x + y")'),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_is_not_proved(name: str) -> None:
    report = verify(SOFTMAX, changed(text_of(SOFTMAX), *WRONG[name]))
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize(
    "operand", ["f32", "real(B)", "operand(A)", "operand(B)", "stored(A, B)", "stored(B)"]
)
def test_operands_are_as_wide_as_what_is_computed_of_them(operand: str) -> None:
    """An input of f64 makes all of it f64, also what is multiplied of others."""
    program = written(
        "Func f; In A, B, C; Var m, n; RVar k;"
        "f[m, n] = rdot(A[m, k], B[k, n], k) + C[m, n]; f.block(m:16, n:16);"
        "f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    text = text_of(program)
    assert verify(program, text).verdict is LayerVerdict.PROVED
    narrow = changed(text, '"A_B_dtype": "operand(A, B)"', f'"A_B_dtype": "{operand}"')
    assert verify(program, narrow).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_is_proved(name: str) -> None:
    report = verify(SOFTMAX, changed(text_of(SOFTMAX), *RIGHT[name]))
    assert report.verdict is LayerVerdict.PROVED, report.layers

"""The parameters of a kernel are a list, and the signature in the text has the same."""

import ast
from pathlib import Path

import pytest

from dtpoly.codegen.breaking import WIDTH
from dtpoly.codegen.kernel_parameters import head_lines, names, parameters
from dtpoly.codegen.line import OfTensor
from dtpoly.frontend.reading import read_file
from dtpoly.ir.kernel import Pointer
from tests.codegen.test_called import kernels
from tests.ir.by_hand import kernel_of
from tests.ir.test_check import FILES


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_signature_has_them_in_order(path: Path) -> None:
    for kernel in kernels(read_file(str(path))):
        text = "\n".join(line.text for line in head_lines(kernel))
        (function,) = ast.parse(f"{text}\n    pass").body
        assert isinstance(function, ast.FunctionDef)
        assert [one.arg for one in function.args.args] == names(kernel)
        constants = [one.arg for one in function.args.args if one.annotation is not None]
        typed = [one.name for group in parameters(kernel) for one in group if one.type]
        assert constants == typed


def test_a_tensor_of_many_axes_has_a_line_for_each() -> None:
    wide = kernel_of("f", (Pointer("a_tensor", "a_tensor", 6),), (), (), ())
    lines = head_lines(wide)
    assert [line.text for line in lines[2:9]] == [
        "    a_tensor_ptr,",
        *(f"    a_tensor_stride_{axis}," for axis in range(6)),
    ]
    assert all(len(line.text) <= WIDTH for line in lines)
    assert [line.about for line in lines[2:4]] == [OfTensor("a_tensor"), None]
    narrow = kernel_of("f", (Pointer("a", "a", 3),), (), (), ())
    assert head_lines(narrow)[2].text == "    a_ptr, a_stride_0, a_stride_1, a_stride_2,"

"""What does not come in at the end of a scan that is `before`, whatever its operand reads there.

The first result of `scan_sum(A[s + 1], s, t, before)` is 0, though A has an element there.
"""

import pytest
import torch

import dtpoly
from dtpoly.reference.run import run
from tests.gradient.comparing import read

OPERANDS = {
    "A[s]": 6,
    "A[s + 1]": 7,
    "A[s % 3]": 6,
    "A[s // 2]": 3,
    "pad(A, 0)[s - 1]": 6,
    "pad(A, 0)[x - s]": 6,
    "pad(A, 0)[1]": 6,
}
SCANS = (
    "scan_sum({0} * 2, s, t{1})",
    "scan_sum({0}, s, t{1})",
    "scan_affine(C[s], {0}, s, t, 1{1})",
)
TILES = "f.block(x:2);\nf.tensorize(x:0, t:4);\n"


@pytest.mark.sampled
@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("schedule", ["", TILES], ids=["loops", "tiles"])
@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("operand", OPERANDS)
def test_elements_before(operand: str, scan: str, schedule: str, is_reverse: bool) -> None:
    if "s" not in operand and "C" not in scan:
        operand = f"{operand} * C[s]"
    words = ", before, reverse" if is_reverse else ", before"
    text = f"""Func f;
In A, B, C;
Var x, t;
RVar s;
f[x, t] = {scan.format(operand, words)} + reshape(B[x], x, 1) * C[t];
"""
    made = torch.Generator().manual_seed(0)
    length = next(one for name, one in OPERANDS.items() if name in operand)
    shapes = {"A": length, "B": 3, "C": 6}
    given = {
        name: torch.rand(count, generator=made, dtype=torch.float64) + 1
        for name, count in shapes.items()
    }
    wanted = run(read(text), given)["f"]
    function = dtpoly.parse(f"{text}{schedule}f.compile();\n", verify=False)
    torch.testing.assert_close(function(*given.values()), wanted)


def test_a_scan_is_as_long_as_its_results() -> None:
    """The label of a scan has the size of the results, where no tensor shows it."""
    text = "Func f;\nIn B;\nVar t, x;\nRVar s;\nf[x, t] = scan_sum(0.25 * s, s, t) * B[x];\n"
    text = text.replace("* B[x]", "* reshape(B[x], x, 1)") + "f.compile();\n"
    found = dtpoly.parse(text)(torch.ones(2), t=4)
    torch.testing.assert_close(found, torch.tensor([0.0, 0.25, 0.75, 1.5]).expand(2, 4))

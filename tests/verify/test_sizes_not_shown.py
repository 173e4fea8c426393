"""Sizes that no tensor shows, in kernels whose results go to places: those near 2**31 are refused.

The end of the last block may not fit 32 bits there, so the runtime looks at such a size, by "near"
in the plan. A plan that leaves it out is not proved, and neither is a kernel with a mistake.
"""

from typing import Any

import pytest
import torch

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.codegen.listings import code, program
from tests.codegen.running import imported
from tests.verify.planned import planned_text, with_data

# Rows m of sequence b, of which no tensor says how many there are; a row goes to cu[b] + m.
ROWS = """Func f into O at [cu[b] + m, n] distinct;
In O, Q, K, cu: i32;
Var b, m, n;
RVar l in [cu[b], cu[b + 1]);
f[b, m, n] = rsum(Q[cu[b] + m, n] * K[l, n], l);
f.block(b:1, m:64);
f.tensorize(b:0, m:0, n:0, l:16);
f.map(b, m);
f.compile();
"""
# The same without data: m has the size of no axis.
SHIFTED = """Func f into O at [m + 3, n];
In O, A;
Var m, n;
f[m, n] = pad(A, 0)[m, n];
f.block(m:64, n:1);
f.tensorize(m:0, n:0);
f.map(n, m);
f.compile();
"""
SOURCES = {"rows": ROWS, "shifted": SHIFTED}
TOO_NEAR = 2**31 - 63


def overflow(report: Report) -> LayerVerdict:
    (found,) = (one for one in report.layers if one.name == "overflow")
    return found.verdict


@pytest.mark.parametrize("name", SOURCES)
def test_it_is_proved_with_a_guard_and_not_without(name: str) -> None:
    given = load(Source("f.dt", SOURCES[name]))
    text = planned_text(given)
    assert verify(given, text, seconds=20).verdict is LayerVerdict.PROVED
    plan: dict[str, Any] = imported(text).f_plan
    (launch,) = plan["launches"]
    assert "m" in launch["near"]
    for near in (("b",), ("n",), ("0",), ("m // 2",), ("min(m, 64)",), ("m + 1048576",)):
        wrong = {**plan, "launches": [{**launch, "near": near}]}
        report = verify(given, with_data(text, "f", wrong), seconds=20)
        assert report.verdict is not LayerVerdict.PROVED, near
        assert overflow(report) is not LayerVerdict.PROVED, near
    without = {key: value for key, value in launch.items() if key != "near"}
    report = verify(given, with_data(text, "f", {**plan, "launches": [without]}), seconds=20)
    assert overflow(report) is LayerVerdict.UNKNOWN


def test_a_call_near_the_limit_is_refused_before_anything_is_stored() -> None:
    function: Any = imported(planned_text(load(Source("f.dt", ROWS)))).f
    out, rows = torch.full((5, 3), 7.0), torch.ones(5, 3)
    cu = torch.tensor([0, 2, 5], dtype=torch.int32)
    for size in (TOO_NEAR, 2**31 - 2**20, 2**31 - 1):
        with pytest.raises(ValueError, match=f"a size of {size} is too near to"):
            function(out, rows, rows, cu, m=size)
        assert (out == 7).all()
    assert function(out, rows, rows, cu, m=3) is out
    assert not (out == 7).any()


# Mistakes in the text of the example of ragged attention: what is there, and what is in its place.
MISTAKES = {
    "rows behind the end are stored": ("    O_at = tl.where(\n", None),
    "the first row is another": ("O_inside = (O_at >= 0)", "O_inside = (O_at >= 1)"),
    "rows behind the tensor are stored": (" & (O_at < O_shape_0)", " & (O_at <= O_shape_0)"),
    "queries behind the tensor are read": (" & (Q_at < Q_shape_0)", " & (Q_at <= Q_shape_0)"),
    "queries before the tensor are read": ("Q_inside = (Q_at >= 0)", "Q_inside = (Q_at >= -1)"),
    "queries of another sequence": ("Q_at = cu_value_3 + ", "Q_at = cu_value_2_2 + "),
    "the loop ends one key early": ("l_stop = min(l_to, ", "l_stop = min(l_to - 1, "),
    "the loop ends behind the keys": ("l_stop = min(l_to, l_size)", "l_stop = l_to"),
    "the loop begins a tile late": (", 0) // 64 * 64", ", 0) // 64 * 64 + 64"),
    "the loop begins inside of a tile": (", 0) // 64 * 64", ", 0)"),
    "the least end of the rows": ("l_to_tile, 0, dt_max", "l_to_tile, 0, dt_min"),
    "a row does not see itself": ("m.to(tl.int64) + 1,", "m.to(tl.int64),"),
    "rows behind the end see keys": ("m.to(tl.int64) < cu_value_2_2", "0 * m < cu_value_2_2"),
    "keys of the sequence before": ("(cu_value_3 <= l[", "(cu_value_3 - 1 <= l["),
    "the end of the next sequence": ("(b_start + 1) * cu", "(b_start + 2) * cu"),
    "a block too few": ("m_blocks = tl.cdiv(m_size, 64)", "m_blocks = m_size // 64"),
    "blocks that overlap": ("pid) * 64", "pid) * 63"),
    "no guard of a size near 2**31": ('            "near": ("b", "m"),\n', ""),
    "a guard of another size": ('"near": ("b", "m")', '"near": ("b", "n")'),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_ragged_attention_is_not_proved(name: str) -> None:
    before, after = MISTAKES[name]
    text = code("ragged").text
    if after is None:  # the place without its condition
        before = text[text.index(before) : text.index("    O_inside = ")]
        after = "    O_at = tl.cast(cu_value_2, tl.int64) + m.to(tl.int64)\n"
    assert before in text
    report = verify(program("ragged"), text.replace(before, after), seconds=10)
    assert report.verdict is not LayerVerdict.PROVED

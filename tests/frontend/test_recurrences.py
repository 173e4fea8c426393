"""A Func that reads itself one step before: the scan that the message names is what was meant."""

import pytest
import torch

from dtpoly.checking import check, load
from dtpoly.reference.run import run
from dtpoly.source import Source

DECLARED = "Func h; In a, b; Var x, t; "


def hint(definition: str) -> str:
    """Return the message about a Func that reads itself."""
    told = check(Source("f.dt", DECLARED + definition)).diagnostics
    assert [one.code for one in told] == ["DT125"]
    return told[0].hint or ""


def stepwise(a: torch.Tensor, b: torch.Tensor, name: str) -> torch.Tensor:
    """The recurrence itself, one step at a time."""
    result, state = torch.zeros_like(a), torch.zeros(len(a), dtype=a.dtype)
    steps = range(a.shape[1])
    for t in reversed(steps) if name == "reverse" else steps:
        now, added = a[:, t], b[:, t]
        match name:
            case "sum" | "reverse":
                state = now + state
            case "difference":
                state = state - now
            case "product":
                state = now * (state if t else torch.ones_like(now))
            case "maximum":
                state = torch.maximum(now, state) if t else now
            case "from 2":
                state = added - now * (state if t else torch.full_like(now, 2))
            case _:
                state = now * state + added
        result[:, t] = state
    return result


RECURRENCES = {
    "sum": "h[x, t] = a[x, t] + h[x, t - 1] + 0 * b[x, t];",
    "reverse": "h[x, t] = h[x, t + 1] + a[x, t] + 0 * b[x, t];",
    "difference": "h[x, t] = h[x, t - 1] - a[x, t] + 0 * b[x, t];",
    "product": "h[x, t] = h[x, t - 1] * (a[x, t] + 0 * b[x, t]);",
    "maximum": "h[x, t] = maximum(h[x, t - 1], a[x, t] + 0 * b[x, t]);",
    "affine": "h[x, t] = b[x, t] + a[x, t] * h[x, t - 1];",
    "from 2": "h[x, t] = b[x, t] - pad(h, 2)[x, t - 1] * a[x, t];",
}


@pytest.mark.parametrize("name", RECURRENCES)
def test_the_scan_is_what_was_meant(name: str) -> None:
    told = hint(RECURRENCES[name])
    definition = told.partition("write ")[2].partition("; and declare ")[0]
    assert "scan_" in definition
    a = torch.linspace(-1.1, 1.3, 14, dtype=torch.float64).reshape(2, 7)
    b = torch.linspace(0.4, -0.9, 14, dtype=torch.float64).reshape(2, 7)
    program = load(Source("f.dt", f"{DECLARED}RVar s; {definition};"))
    found = run(program, {"a": a, "b": b})["h"]
    torch.testing.assert_close(found, stepwise(a, b, name))


@pytest.mark.parametrize(
    "definition",
    [
        "h[x, t] = a[x, t] * h[x, t - 1] * h[x, t - 1] + 0 * b[x, t];",
        "h[x, t] = a[x, t] + h[x, t - 2] + 0 * b[x, t];",
        "h[x, t] = a[x, t] + exp(h[x, t - 1]) + 0 * b[x, t];",
        "h[x, t] = a[x, t] + h[x - 1, t - 1] + 0 * b[x, t];",
    ],
)
def test_what_is_no_scan_is_told_what_scans_are(definition: str) -> None:
    told = hint(definition)
    assert "scan_affine" in told
    assert "it is a scan" not in told


def test_what_reads_its_own_element_is_told_of_reductions() -> None:
    assert "rsum" in hint("h[x, t] = h[x, t] + a[x, t] * b[x, t];")


def test_a_new_label_has_a_new_name() -> None:
    text = "Func h, s; In a; Var t, x; RVar u; s[x] = rsum(a[u], u) * x; h[t] = a[t] + h[t - 1];"
    told = check(Source("f.dt", text)).diagnostics
    assert any("scan_sum(a[k], k, t)" in (one.hint or "") for one in told)

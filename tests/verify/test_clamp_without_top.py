"""`tl.clamp` whose upper bound is infinite is a maximum, where values are promised to be finite."""

from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_by_hand import HEAD, LOAD, START, is_proved, program, why

FINITE = HEAD.replace("2**30\n", "2**30, finite\n")


def judged(value: str, head: str, clamp: str) -> Report:
    lines = (LOAD, f"tl.store(out + i, {clamp}, mask=m)")
    return verify(program(value), head + START + "".join(f"    {line}\n" for line in lines))


def test_it_is_a_maximum() -> None:
    clamp = 'tl.clamp(x, min=0.5, max=float("inf"))'
    assert is_proved(judged("maximum(X[i], 0.5)", FINITE, clamp))
    assert not is_proved(judged("maximum(X[i], 0.25)", FINITE, clamp))
    assert not is_proved(judged("minimum(X[i], 0.5)", FINITE, clamp))
    assert not is_proved(judged("X[i]", FINITE, clamp))


def test_it_drops_a_nan_and_its_bounds_are_in_order() -> None:
    found = judged("maximum(X[i], 0.5)", HEAD, 'tl.clamp(x, min=0.5, max=float("inf"))')
    assert "drops a nan" in why(found)
    for bounds in (
        'min=float("inf"), max=0.5',
        'min=0.5, max=float("-inf")',
        'min=x, max=float("inf")',
    ):
        found = judged("maximum(X[i], 0.5)", FINITE, f"tl.clamp(x, {bounds})")
        assert "no written numbers in this order" in why(found)

"""What is stored where it is read has the tiles of its reader, and is stored once.

A step of a state space model reads the new state at another label than its own, and scales of
groups are read at quotients.
"""

from dtpoly.algorithm.show import show_directive
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled
from tests.autoschedule.asked import call_of

STEP = """Func state into H, y; In H, A, B, C; Var b, d, n; RVar k;
state[b, d, n] = H[b, d, n] * reshape(A[d, n], 1, d, n) + reshape(B[b, n], b, 1, n);
y[b, d] = rsum(state[b, d, k] * reshape(C[b, k], b, 1, k), k);
y.compile(state);"""
SCALES = """Func most, q: i8, s: f32; In X; Var m, g; RVar k, j: 128;
most[m, g] = rmax(abs(X[m, 128 * g + j]), j);
s[m, g] = maximum(most[m, g], 0.0001) / 127;
q[m, k] = cast(round(X[m, k] / s[m, k // 128]), i8);
q.compile(s);"""


def first(text: str, **sizes: int) -> tuple[Settled, list[str], float]:
    """Return the first choice, its directives, and the bytes a second of the device."""
    call = call_of(text, "f32", **sizes)
    best = next(iter(schedules(call)))
    return best, [show_directive(line.directive) for line in best.lines], call.device.memory


def test_a_new_state_is_stored_by_the_kernel_that_reads_it() -> None:
    best, said, rate = first(STEP, b=64, d=2048, n=16, k=16)
    assert "state.fuse_at(y, d);" in said
    (tiles,) = (one for one in said if "tensorize" in one)
    assert "n:0" in tiles
    assert best.seconds < 3 * 2 * 4 * 64 * 2048 * 16 / rate


def test_scales_of_groups_are_stored_once_for_a_row_that_is_read_once() -> None:
    best, said, rate = first(SCALES, m=4096, k=4096, g=32)
    assert {"most.fuse_at(q, m);", "s.fuse_at(q, m);"} <= {*said}
    (tiles,) = (one for one in said if "tensorize" in one)
    assert all(f"{label}:0" in tiles for label in ("k", "g", "j"))
    assert best.seconds < 2 * 5 * 4096 * 4096 / rate

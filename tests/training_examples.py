"""Makes, by calls, the messages about operators that train and about dtpoly.nn."""

from collections.abc import Callable
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import dtpoly
from dtpoly import nn
from dtpoly.training.visible_kernels import visible_function


def unknown_func() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled, of="g")


def unknown_way() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled, autocast="high")


def several_results() -> None:
    pair = dtpoly.parse(
        "Func f, g; In A; Var x; f[x] = A[x]; g[x] = 2 * A[x]; f.compile(); g.compile();"
    )
    dtpoly.differentiable(pair)


def unknown_name() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled, name="a product")


def unknown_operator() -> None:
    nn.operator("relu")


def unknown_reduction() -> None:
    nn.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 2]), reduction="max")


def no_rows() -> None:
    rows, weight, classes = torch.zeros(2, 4), torch.zeros(3, 4), torch.tensor([0, 2])
    nn.linear_cross_entropy(rows, weight, classes, rows_at_once=0)


def other_gradient() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    gradient = dtpoly.parse("Func d_C; In B, d_f; Var x; d_C[x] = d_f[x] * B[x]; d_C.compile();")
    dtpoly.differentiable(scaled, backward=gradient)


def into_an_input() -> None:
    step = dtpoly.parse("Func w into W; In W, G; Var x; w[x] = W[x] - G[x]; w.compile();")
    dtpoly.differentiable(step)


def into_a_leaf() -> None:
    logits = torch.zeros(2, 3, requires_grad=True)
    nn.cross_entropy(logits, torch.tensor([0, 2]), in_place=True)


def missing_operand() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled)(torch.ones(3))


def unknown_operand() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled)(torch.ones(3), torch.ones(3), scale=2)


def other_sizes() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled)(torch.ones(3), torch.ones(4))


def no_tensor() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled)(torch.ones(3), 2.0)


def whole_numbers() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    dtpoly.differentiable(scaled)(torch.ones(3), torch.tensor([1, 2, 3]))


def numbers_alone() -> None:
    steps = dtpoly.parse("Func f; SIn rate; Var x; f[x] = rate * x; f.compile();")
    dtpoly.differentiable(steps)


def unnamed_weight() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    dtpoly.differentiable(scaled, by="A")(a, b)


def weighted_classes() -> None:
    nn.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 2]), weight=torch.ones(3))


def classes_as_floats() -> None:
    nn.cross_entropy(torch.zeros(2, 3), torch.zeros(2, 3))


def classes_of_32_bits() -> None:
    nn.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 2], dtype=torch.int32))


def losses_apart() -> None:
    rows = torch.zeros(2, 4, requires_grad=True)
    classes = torch.tensor([0, 2])
    nn.linear_cross_entropy(rows, torch.zeros(3, 4), classes, reduction="none", rows_at_once=1)


def other_axes() -> None:
    nn.rms_norm(torch.zeros(2, 3), (4,))


def other_rows() -> None:
    nn.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 2, 1]))


def other_widths() -> None:
    nn.linear_cross_entropy(torch.zeros(2, 4), torch.zeros(3, 5), torch.tensor([0, 2]))


def other_halves() -> None:
    nn.swiglu(torch.zeros(2, 3), torch.zeros(2, 4))


def odd_heads() -> None:
    nn.rope(torch.zeros(1, 2, 1, 5), torch.zeros(2, 2), torch.zeros(2, 2))


def other_heads() -> None:
    queries, keys = torch.zeros(1, 2, 5, 8), torch.zeros(1, 1, 5, 8)
    nn.scaled_dot_product_attention(queries, keys, keys)


def unknown_class() -> None:
    nn.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 3]))


def on_a_gpu_of_the_parent() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    op = dtpoly.differentiable(scaled)
    # torch says so in a process that was forked after a GPU was used.
    with patch.object(torch.cuda, "_is_in_bad_fork", lambda: True), FakeTensorMode():
        op(torch.ones(3, device="cuda"), torch.ones(3, device="cuda"))


def changed_operand() -> None:
    scaled = dtpoly.parse("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.compile();")
    a = torch.ones(3, requires_grad=True)
    b = torch.ones(3)
    total = dtpoly.differentiable(scaled)(a, b).sum()
    b += 1
    total.backward()


def in_panels() -> None:
    schedule = dtpoly.parse(
        "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
        "f[m, n] = rdot(A[m, k], g[n, k], k); g.block(n:16, k:16); g.tensorize(n:0, k:0);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.persistent(); g.persistent();"
        "f.panels(n:32); f.compile();"
    )
    visible_function(schedule.function)


CALLS: dict[str, Callable[[], object]] = {
    "DT275": unknown_func,
    "DT275_name": unknown_name,
    "DT275_operator": unknown_operator,
    "DT275_reduction": unknown_reduction,
    "DT275_rows": no_rows,
    "DT275_several": several_results,
    "DT275_way": unknown_way,
    "DT276": other_gradient,
    "DT277": into_an_input,
    "DT277_leaf": into_a_leaf,
    "DT278": missing_operand,
    "DT278_unknown": unknown_operand,
    "DT279": other_sizes,
    "DT279_dtype": whole_numbers,
    "DT279_number": no_tensor,
    "DT279_numbers": numbers_alone,
    "DT280": unnamed_weight,
    "DT281": weighted_classes,
    "DT281_floats": classes_as_floats,
    "DT281_losses": losses_apart,
    "DT281_dtype": classes_of_32_bits,
    "DT282": other_axes,
    "DT282_halves": other_halves,
    "DT282_heads": other_heads,
    "DT282_odd": odd_heads,
    "DT282_rows": other_rows,
    "DT282_widths": other_widths,
    "DT283": unknown_class,
    "DT284": on_a_gpu_of_the_parent,
    "DT285": changed_operand,
    "DT286": in_panels,
}

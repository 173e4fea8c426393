"""Tests where arrays live, and which lanes a step takes in, for Programs that went wrong once."""

from functools import cache

import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.running import imported


@cache
def generated(text: str) -> Code:
    """Return what is generated for a text."""
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def test_what_is_read_with_padding_is_in_memory() -> None:
    """A register tile has no elements outside, and no way to ask which are."""
    made = generated("Func f, g; Var x; f[x] = 3; g[x] = pad(f, 1)[x] * f[x]; f.fuse_at(g, x);")
    (place,) = made.stages.storage.scratch.values()
    assert "padding" in made.stages.storage.why[place.array]
    assert imported(made.text).g(x=5, device="cpu").tolist() == [9] * 5


def test_a_step_masks_labels_that_its_operand_lacks() -> None:
    made = generated(
        "Func f, g; In A; RVar y, k; f[y, k] = reshape(A[k], 1, k); g[] = rsum(f[y, k], y, k);"
        "f.inline(); g.tensorize(y:0, k:0);"
    )
    given = torch.arange(5.0)
    assert imported(made.text).g(given, y=3) == 3 * given.sum()

"""Remainders of floats are exact, whatever the quotient is: `fmod` says what they must be."""

import numpy as np
import pytest
import torch

from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from tests.codegen.running import imported
from tests.schedule.told import read

TEXT = (
    "Func f; In A: {0}, B: {0}; Var x; f[x] = A[x] % B[x]; f.block(x:1024); f.tensorize(x:0);"
    "f.compile();"
)
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, -7.7, np.inf, -np.inf, np.nan)


def numbers(dtype: type[np.floating], least: float, most: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of all sizes, of which a quotient may have more digits than a float."""
    random = np.random.default_rng(3)
    bits = np.uint32 if dtype is np.float32 else np.uint64
    any_bits = random.integers(0, np.iinfo(bits).max, (2, 2000), dtype=bits).view(dtype)
    near = random.uniform(-9, 9, (2, 400)).astype(dtype)
    tenths = np.stack([random.integers(-50, 50, 400) * dtype(0.1), np.full(400, dtype(0.1))])
    ends = np.array([*SPECIAL, least, most, -most], dtype)
    pairs = np.array(np.meshgrid(ends, ends)).reshape(2, -1)
    a, b = np.concatenate([any_bits, near, tenths.astype(dtype), pairs], axis=1)
    return a, b


@pytest.mark.parametrize(
    ("name", "dtype", "least", "most"),
    [("f32", np.float32, 1e-45, 3.4e38), ("f64", np.float64, 5e-324, 1.7e308)],
)
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_a_remainder_is_exact(
    name: str, dtype: type[np.floating], least: float, most: float
) -> None:
    a, b = numbers(dtype, least, most)
    module = imported(code_of(judge(read(TEXT.format(name)), DIRECTIVES).scheduled).text)
    found = module.f(torch.tensor(a), torch.tensor(b)).numpy()
    with np.errstate(all="ignore"):
        rest = np.fmod(a, b)
        wanted = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    assert np.array_equal(found, wanted, equal_nan=True)


def test_it_is_put_together_from_what_a_gpu_computes_exactly() -> None:
    assert "%" not in TEXTS["dt_mod"].replace("`a % b`", "")

"""The algorithms that were written for public kernels are programs, and name what they launch."""

import pytest

from tests.public_kernels import PublicKernel, program_of, public_kernels

KERNELS = list(public_kernels())


def test_there_are_many_of_several_projects() -> None:
    proved = [one for one in KERNELS if one.verdict == "PROVED"]
    assert len({one.kernel for one in proved}) >= 100
    assert len({one.project for one in proved}) >= 8
    assert {one.verdict for one in KERNELS} == {"PROVED", "REFUTED", "UNKNOWN"}


@pytest.mark.sampled
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.kernel.rpartition("/")[2])
def test_the_algorithm_is_a_program(kernel: PublicKernel) -> None:
    assert program_of(kernel).funcs
    assert f"# verify: {kernel.kernel.partition('::')[2]}[" in kernel.algorithm

"""Labels that are shorter than axes: random products through descriptors, beside the reference."""

from random import Random

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import input_shapes, sizes_of
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.shifted import SIZES, random_shifted

SEEDS = 24


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_is_right_and_never_refuted(seed: int) -> None:
    """Also where one element, maybe beyond a label's end, is infinite or no number."""
    program = load(Source("shifted.dt", random_shifted(seed)))
    made = code_of(judge(program, DIRECTIVES).scheduled)
    module, random = imported(made.text), Random(seed)
    for at, special in enumerate((None, None, "inf", "nan")):
        wanted = {label.name: random.choice(SIZES) for label in program.labels}
        try:
            sizes = sizes_of(program, input_shapes(program, wanted), wanted)
        except DtpolyError:
            continue  # some labels share a size
        dtype = random.choice((DType.F32, DType.F16))
        inputs = Recipe(at, dtype).inputs(program, sizes)
        for one in inputs.values():
            if special is not None and isinstance(one, torch.Tensor) and one.numel():
                one.view(-1)[random.randrange(one.numel())] = float(special)
        compared(module, program, made.stages.outputs, inputs, sizes)
    assert verify(program, made.text).verdict is not LayerVerdict.REFUTED

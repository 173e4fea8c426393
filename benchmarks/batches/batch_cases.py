"""The algorithms whose rows are to have the same bits, and the texts that are measured for each.

In each case one text is for batches of all sizes, and of it rows with the same bits are proved; the
others are those that the autoscheduler takes for each size if nothing is asked of bits.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from benchmarks.batches.batch_manifest import BEST, MANIFEST, ONE, read_manifest
from benchmarks.files import ROOT, write_whole
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Tensor
from dtpoly.algorithm.show import show_directive
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled
from dtpoly.autoschedule.unscheduled_source import algorithm_of, asked_for, bare
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.devices.devices import Device
from dtpoly.frontend.reading import read_file
from dtpoly.generate import outputs
from dtpoly.row_proofs import why_not_proved


@dataclass(frozen=True, slots=True)
class BatchCase:
    """An example, the label of its rows with several sizes, and the other sizes."""

    example: str
    dtype: str
    label: str
    batches: tuple[int, ...]
    others: Mapping[str, int]

    @property
    def name(self) -> str:
        """Return a name that is a part of a file's name, too."""
        return f"{self.example}_{self.dtype}"


CASES = (
    BatchCase("row_sum", "f32", "x", (16, 512, 8192), {"y": 8192}),
    BatchCase("log_sum_exp", "f32", "x", (16, 8192), {"y": 8192}),
    BatchCase("softmax", "f32", "x", (16, 512, 8192), {"y": 4096}),
    BatchCase("layer_norm", "bf16", "x", (16, 8192), {"y": 4096}),
    BatchCase("rms_norm", "bf16", "x", (16, 8192), {"y": 4096}),
    BatchCase("half_matmul", "bf16", "m", (16, 256, 4096), {"n": 4096, "k": 4096}),
    BatchCase("matmul", "f32", "m", (64, 2048), {"n": 2048, "k": 2048}),
    BatchCase(
        "flash_attention", "f16", "b", (1, 16), {"h": 16, "m": 2048, "l": 2048, "n": 64, "k": 64}
    ),
)
TINY = (
    BatchCase("row_sum", "f32", "x", (2, 5), {"y": 70}),
    BatchCase("half_matmul", "f16", "m", (3, 17), {"n": 32, "k": 40}),
)


@dataclass(frozen=True, slots=True)
class BatchText:
    """A text that is measured: of which case, for which batches, and how it came about."""

    case: str
    kind: str
    batches: tuple[int, ...]
    file: str
    func: str
    schedule: tuple[str, ...]
    predicted_ms: float
    why_not_proved: str  # "" where rows are proved to have the same bits


@dataclass(frozen=True, slots=True)
class BatchInput:
    """An input in a batch: its shape, its dtype, and the axis of rows, if it has one."""

    name: str
    shape: tuple[int, ...] | None
    dtype: str
    axis: int | None


def prepare(folder: Path, cases: tuple[BatchCase, ...], device: Device) -> Iterator[BatchText]:
    """Write the texts of each case, and yield those that are written now; the others are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    known = read_manifest(folder)
    for case in cases:
        if case.name in known:
            continue
        texts = [*_texts(case, folder, device)]
        inputs = {str(size): [asdict(one) for one in _inputs(case, size)] for size in case.batches}
        known[case.name] = {
            "case": asdict(case),
            "inputs": inputs,
            "texts": [asdict(one) for one in texts],
        }
        write_whole(folder / MANIFEST, json.dumps(known, indent=1) + "\n")
        yield from texts


def call_of(case: BatchCase, size: int, device: Device) -> PricedCall:
    """Return the task of the autoscheduler for a batch of one size."""
    path = ROOT / "examples" / f"{case.example}.dt"
    algorithm = algorithm_of(read_file(str(path)), DIRECTIVES)
    program = bare(algorithm)
    sizes = filled(program, {**case.others, case.label: size})
    return PricedCall(program, sizes, DType(case.dtype), device, DIRECTIVES, algorithm.precision)


def _texts(case: BatchCase, folder: Path, device: Device) -> Iterator[BatchText]:
    func = outputs(call_of(case, case.batches[0], device).program)[0]
    for kind, batches in ((ONE, case.batches), *((BEST, (size,)) for size in case.batches)):
        call = call_of(case, batches[-1], device)
        if kind == ONE:
            call = replace(call, asked=(asked_for(func, (case.label,)),))
        for one in islice(schedules(call), 1):
            why = (
                "" if kind == ONE else why_not_proved(one.program, one.text, ((func, case.label),))
            )
            yield _written(case, folder, kind, batches, func, one, why)


def _written(
    case: BatchCase,
    folder: Path,
    kind: str,
    batches: tuple[int, ...],
    func: str,
    one: Settled,
    why: str,
) -> BatchText:
    file = f"{case.name}__{'all' if kind == ONE else batches[0]}.py"
    write_whole(folder / file, one.text)
    lines = tuple(show_directive(line.directive) for line in one.lines)
    return BatchText(case.name, kind, batches, file, func, lines, 1e3 * one.seconds, why)


def _inputs(case: BatchCase, size: int) -> Iterator[BatchInput]:
    path = ROOT / "examples" / f"{case.example}.dt"
    program = algorithm_of(read_file(str(path)), DIRECTIVES).program
    sizes = [filled(program, {**case.others, case.label: one}) for one in (size, size + 1)]
    shapes, longer = (input_shapes(program, one) for one in sizes)
    for one in program.inputs:
        dtype = case.dtype if one.dtype is None else str(one.dtype)
        if not isinstance(one, Tensor):
            yield BatchInput(one.name, None, dtype, None)
            continue
        pairs = enumerate(zip(shapes[one.name], longer[one.name], strict=True))
        axes = [at for at, (a, b) in pairs if a != b]
        yield BatchInput(one.name, tuple(shapes[one.name]), dtype, axes[0] if axes else None)

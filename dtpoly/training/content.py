"""Says what an operator is made of, and names it by that."""

import hashlib
import re
from functools import cached_property

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.label_sizes import size_rules, used_labels
from dtpoly.algorithm.program import Scalar
from dtpoly.api import Scheduled
from dtpoly.codegen.python_names import FileNames, file_names
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frozen import dataclass
from dtpoly.generate import outputs

DIGITS = 12  # of the number in a name
NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*")


@dataclass(frozen=True, eq=False)
class Content:
    """All that an operator of torch depends on.

    The schedule returns `results`, of which the first one is `func`. Gradients are computed by the
    inputs `by`; `backward` has schedules that were written for them. Results that are `saved`
    are kept for gradients, which compute all else again. `front` begins its name.
    """

    schedule: Scheduled
    func: str
    results: tuple[str, ...]
    by: tuple[str, ...]
    backward: tuple[Scheduled, ...]
    front: str
    saved: tuple[str, ...] = ()
    shown: int = 1  # so many of the results are returned to the caller
    is_visible: bool = False  # torch.compile sees the kernels

    @property
    def parts(self) -> tuple[object, ...]:
        """Return the parts that it is made again of, in another process."""
        said = (self.results, self.by, self.backward, self.front, self.saved, self.shown)
        return (self.schedule, self.func, *said, self.is_visible)

    @cached_property
    def name(self) -> str:
        """Return the operator's name, which ends with a number of all that it depends on."""
        schedules = (self.schedule, *self.backward)
        texts = [str(one) for one in schedules]
        own = [
            f"{cls.__module__}.{cls.__qualname__}"
            for cls in self.schedule.primitives
            if cls not in DIRECTIVES
        ]
        parts = (self.func, *self.results, "by", *self.by, "saved", *self.saved, *texts, *own)
        parts = (*parts, "visible") if self.is_visible else parts
        number = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]
        return f"{self.front}_{number}"

    @cached_property
    def kept_wide(self) -> tuple[str, ...]:
        """Return the results that are only there for gradients, and keep 32 bits for these."""
        return tuple(one for one in self.saved if one in self.results[self.shown :])

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Return the inputs by their names in the source, in order."""
        return tuple(one.name for one in self.schedule.program.inputs)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Return the places of inputs that are numbers."""
        every = enumerate(self.schedule.program.inputs)
        return tuple(at for at, one in every if isinstance(one, Scalar))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the names of inputs in Python."""
        return tuple(self._names.inputs[one] for one in self.inputs)

    @cached_property
    def labels(self) -> dict[str, str]:
        """Return the labels whose sizes a call may pass, with their names in Python."""
        program = self.schedule.program
        used = used_labels(program)
        rules = (one for one in size_rules(program) if one.may_be_passed and one.label in used)
        return {one.label: self._names.labels[one.label] for one in rules}

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """Return those labels whose sizes each call must pass."""
        rules = (one for one in size_rules(self.schedule.program) if one.is_passed)
        return tuple(one.label for one in rules if one.label in self.labels and not one.otherwise)

    @property
    def _names(self) -> FileNames:
        return file_names(self.schedule.program, outputs(self.schedule.program), ())

    def schema(self, *, in_tensors: bool) -> str:
        """Return torch's schema; numbers are those of Python, or all of them are in tensors."""
        parts: list[str] = []
        for one, word in zip(self.schedule.program.inputs, self.words, strict=True):
            kind = "Tensor"
            if isinstance(one, Scalar) and not in_tensors:
                kind = number_kind(one.dtype)
            parts.append(f"{kind} {word}")
        parts += [f"SymInt? {word}=None" for word in self.labels.values()]
        count = len(self.results)
        made = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
        return f"({', '.join(parts)}) -> {made}"


def number_kind(dtype: DType | None) -> str:
    """Return torch's word for a number of some dtype."""
    if dtype is None or is_float(dtype):
        return "float"
    return "bool" if dtype is DType.BOOL else "int"

"""A kernel whose lanes read what other lanes wrote, and what happens where barriers are missing.

`TRITON_INTERPRET=1 python -m tests.codegen.scratch` prints a line of JSON for each variant.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.ring.ring_memory import RaceError
from dtpoly.schedule.legality import judge
from tests.codegen.inputs import Recipe
from tests.codegen.listings import FILES
from tests.codegen.running import compared, imported
from tests.schedule.told import read

# This is listing 3.14 of the thesis, with tiles in which lanes read what other lanes wrote.
TEXT = (
    FILES["listing_3_14_swish_partly_fused"]
    .read_text()
    .replace("swish_out.compile();", "swish_out.tensorize(y:64, tmp.y:256);\nswish_out.compile();")
)
BARRIER = "tl.debug_barrier()"
WARPS = (1, 2, 4, 8)
# There are two rows, so that the second takes the place of the first; both are ragged in the last
# tile.
SIZES = {"x": 2, "y": 300}


@dataclass(frozen=True, slots=True)
class Variant:
    """The kernel with a number of warps, and one program for all rows or for each."""

    warps: int
    blocks: bool

    @property
    def text(self) -> str:
        """Return the .dt file."""
        blocks = "swish_out.block(x:1);\n" if self.blocks else ""
        return f"{TEXT}\nswish_out.num_warps({self.warps});\n{blocks}"

    @property
    def name(self) -> str:
        """Return a name for files."""
        return f"scratch_{self.warps}_{'blocks' if self.blocks else 'one'}"

    @property
    def code(self) -> Code:
        """Return the generated code."""
        return code_of(judge(read(self.text), DIRECTIVES).scheduled)

    @property
    def without_barriers(self) -> str:
        """Return the generated text without its barriers."""
        return self.code.text.replace(BARRIER, "pass")


VARIANTS = tuple(Variant(*one) for one in product(WARPS, (False, True)))


def race(variant: Variant, generated: str) -> str | None:
    """Return the race that is found in a generated file of a variant, or None."""
    program, outputs = read(variant.text), variant.code.stages.outputs
    try:
        compared(imported(generated), program, outputs, Recipe().inputs(program, SIZES), SIZES)
    except Exception as error:
        found = _cause(error)
        if not isinstance(found, RaceError):
            raise
        return str(found)
    return None


def _cause(error: BaseException) -> BaseException:
    return error if error.__cause__ is None else _cause(error.__cause__)


@dataclass(frozen=True, slots=True)
class Told:
    """The races that are found in a variant, as it is generated and without its barriers."""

    name: str
    barriers: int
    with_barriers: str | None
    without_barriers: str | None


def all_told() -> Iterator[Told]:
    """Yield the results of each variant in turn."""
    for variant in VARIANTS:
        text = variant.code.text
        found = race(variant, text), race(variant, variant.without_barriers)
        yield Told(variant.name, text.count(BARRIER), *found)


def main() -> None:
    """Print what is found."""
    for told in all_told():
        print(json.dumps(asdict(told)), flush=True)


if __name__ == "__main__":
    main()

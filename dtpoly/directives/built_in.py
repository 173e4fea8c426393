"""The list of the built-in directives, in the order in which they are shown."""

from typing import Any

from dtpoly.directives.align import Align
from dtpoly.directives.alternate import Alternate
from dtpoly.directives.atomic import Atomic
from dtpoly.directives.beside import Beside
from dtpoly.directives.block import Block
from dtpoly.directives.compile import Compile
from dtpoly.directives.descending import Descending
from dtpoly.directives.descriptor import Descriptor
from dtpoly.directives.early import Early
from dtpoly.directives.flatten import Flatten
from dtpoly.directives.fuse_at import FuseAt
from dtpoly.directives.inline import Inline
from dtpoly.directives.map import Map
from dtpoly.directives.num_stages import NumStages
from dtpoly.directives.num_warps import NumWarps
from dtpoly.directives.online import Online
from dtpoly.directives.panels import Panels
from dtpoly.directives.persistent import Persistent
from dtpoly.directives.pitch import Pitch
from dtpoly.directives.precision import Precision
from dtpoly.directives.reorder import Reorder
from dtpoly.directives.same_bits import SameBits
from dtpoly.directives.split import SplitLoop
from dtpoly.directives.store import StoreBoxes
from dtpoly.directives.stream import Stream
from dtpoly.directives.swap import Swap
from dtpoly.directives.tensorize import Tensorize
from dtpoly.directives.unroll import Unroll
from dtpoly.directives.warp_specialize import WarpSpecialize
from dtpoly.plan.layout import Layout
from dtpoly.schedule.bound_primitives import Primitives, compiling
from dtpoly.schedule.primitive import Turn

DIRECTIVES: Primitives = (
    Compile,
    Block,
    Tensorize,
    Map,
    FuseAt,
    NumWarps,
    NumStages,
    SplitLoop,
    Reorder,
    Unroll,
    Flatten,
    Inline,
    Atomic,
    Precision,
    Persistent,
    Descriptor,
    Align,
    Alternate,
    Early,
    Pitch,
    Stream,
    WarpSpecialize,
    Beside,
    StoreBoxes,
    Panels,
    Swap,
    Online,
    Descending,
    SameBits,
)

# What the directive is called that asks for a function; the first name is the usual one.
COMPILING = compiling(DIRECTIVES)
# And that which asks for rows with the same bits in each batch.
INVARIANT = SameBits.name
# And that which puts an expression in the place of its reads.
INLINING = next(cls.name for cls in DIRECTIVES if cls.turn is Turn.INLINED)
# And those that compute a Func in the kernel of its reader: in a loop of its own, or in the
# reader's.
FUSING, JOINING = (cls.name for cls in DIRECTIVES if cls.turn is Turn.FUSIONS)
# And that which computes several indices at once.
TILING = next(cls.name for cls in DIRECTIVES if cls.turn is Turn.LANES)


def text_of_layout(func: str, **wanted: Any) -> str:
    """Return the directives by which numbers or words of a Layout are said: `f.num_warps(8)`.

    They are those that another number, or no word, would change.
    """
    others: Any = {name: one + 1 if isinstance(one, int) else "" for name, one in wanted.items()}
    one, other = Layout(func, **wanted), Layout(func, **others)
    said = ((cls.of_layout(other), cls.of_layout(one)) for cls in DIRECTIVES)
    return " ".join(str(new).rstrip(";") for old, new in said if new is not None and new != old)


def with_names(way: str) -> str:
    """Return a way out in which `{tile}`, `{fuse}` and `{join}` stand for names of directives.

    Rooms that know no directive give their ways out like this.
    """
    return way.format(tile=TILING, fuse=FUSING, join=JOINING)

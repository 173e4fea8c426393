"""All that a primitive of one's own is made of, under one name; see docs/primitives.md.

from dtpoly.primitives import Label, Name, Parameter, Primitive, State
"""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine, Dot, Reduce
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.program import (
    Argument,
    Func,
    Part,
    Program,
    in_order,
    nested_labels,
    reduced_labels,
    scanned_labels,
)
from dtpoly.algorithm.substitute import inlined
from dtpoly.diagnostics import (
    Diagnostic,
    DtpolyError,
    Edit,
    Note,
    Severity,
)
from dtpoly.ir.body import Body
from dtpoly.ir.kernel import Step
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.plan.price import Price
from dtpoly.poly.axes import Axis
from dtpoly.poly.model import Statement
from dtpoly.schedule.argument_kinds import (
    FuncName,
    Kind,
    OneOf,
    Refusal,
    TensorName,
    Word,
)
from dtpoly.schedule.argument_kinds import (
    IntegerKind as Integer,
)
from dtpoly.schedule.argument_values import Divided, Name, Sized, word_span
from dtpoly.schedule.depends import Depends, Number, Piece
from dtpoly.schedule.dividing import split_loops
from dtpoly.schedule.facts import (
    Blocked,
    Compiled,
    DescribedTensors,
    Fact,
    Fused,
    Inlined,
    InvariantRow,
    MergeBlocked,
    NewName,
    Numbered,
    ReducedAlong,
    Returned,
    Rounded,
    RowsApart,
)
from dtpoly.schedule.fused_into import check_fused
from dtpoly.schedule.fusing import fuse, fuse_around
from dtpoly.schedule.initial import initial
from dtpoly.schedule.kernels import View, reached
from dtpoly.schedule.labels import (
    DividedLabel,
    SizedLabel,
    check_label,
    twice,
)
from dtpoly.schedule.labels import (
    LabelKind as Label,
)
from dtpoly.schedule.made_kernels import Made
from dtpoly.schedule.nesting import reordered
from dtpoly.schedule.partials import with_partial_results
from dtpoly.schedule.primitive import (
    Count,
    LaunchEdit,
    Parameter,
    Primitive,
    Stage,
    Turn,
    Written,
)
from dtpoly.schedule.reads import check_reads
from dtpoly.schedule.reference import Reference
from dtpoly.schedule.reference import ReferenceRow as Row
from dtpoly.schedule.state import Fusion, State
from dtpoly.schedule.tiling import tile_loops, tile_sizes
from dtpoly.schedule.tree import (
    AxisKind,
    Kernel,
    Leaf,
    Loop,
    Node,
    Sequence,
    in_sequence,
    leaves,
    loop_value,
    loops,
    rewrite,
    statements,
    with_options,
)
from dtpoly.source import Span

__all__ = [
    "Affine",
    "Argument",
    "Axis",
    "AxisKind",
    "Blocked",
    "Body",
    "Compiled",
    "Count",
    "DType",
    "Decided",
    "Depends",
    "DescribedTensors",
    "Diagnostic",
    "Divided",
    "DividedLabel",
    "Dot",
    "DtpolyError",
    "Edit",
    "Fact",
    "Func",
    "FuncName",
    "Fused",
    "Fusion",
    "Inlined",
    "Integer",
    "InvariantRow",
    "Kernel",
    "Kind",
    "Label",
    "Launch",
    "LaunchEdit",
    "Layout",
    "Leaf",
    "Loop",
    "Made",
    "MergeBlocked",
    "Name",
    "NewName",
    "Node",
    "Note",
    "Number",
    "Numbered",
    "OneOf",
    "Parameter",
    "Part",
    "Piece",
    "Price",
    "Primitive",
    "Program",
    "Reduce",
    "ReducedAlong",
    "Reference",
    "Refusal",
    "Returned",
    "Rounded",
    "Row",
    "RowsApart",
    "Sequence",
    "Severity",
    "Sized",
    "SizedLabel",
    "Span",
    "Stage",
    "State",
    "Statement",
    "Step",
    "TensorName",
    "Turn",
    "View",
    "Word",
    "Written",
    "check_fused",
    "check_label",
    "check_reads",
    "fuse",
    "fuse_around",
    "in_order",
    "in_sequence",
    "initial",
    "inlined",
    "leaves",
    "loop_value",
    "loops",
    "nested_labels",
    "reached",
    "reduced_labels",
    "reordered",
    "rewrite",
    "scanned_labels",
    "split_loops",
    "statements",
    "tile_loops",
    "tile_sizes",
    "twice",
    "types_of",
    "with_options",
    "with_partial_results",
    "word_span",
]

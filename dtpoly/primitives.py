"""All that a primitive of one's own is made of, under one name; see docs/primitives.md.

from dtpoly.primitives import Label, Name, Parameter, Primitive, State
"""

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Argument, Func, Program
from dtpoly.diagnostics import Diagnostic, DtpolyError, Edit, Note, Severity
from dtpoly.ir.body import Body
from dtpoly.ir.kernel import Step
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.poly.axes import Axis
from dtpoly.schedule.argument_kinds import FuncName, Kind, OneOf, Refusal, TensorName, Word
from dtpoly.schedule.argument_kinds import IntegerKind as Integer
from dtpoly.schedule.argument_values import Divided, Name, Sized
from dtpoly.schedule.depends import Depends, Number, Piece
from dtpoly.schedule.facts import Blocked, Fact, Fused, Inlined, NewName, Numbered, ReducedAlong
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import DividedLabel, SizedLabel
from dtpoly.schedule.labels import LabelKind as Label
from dtpoly.schedule.made import Made
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Primitive, Written
from dtpoly.schedule.reference import Reference
from dtpoly.schedule.reference import ReferenceRow as Row
from dtpoly.schedule.state import State
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
)

__all__ = [
    "Affine",
    "Argument",
    "Axis",
    "AxisKind",
    "Blocked",
    "Body",
    "Count",
    "Decided",
    "Depends",
    "Diagnostic",
    "Divided",
    "DividedLabel",
    "DtpolyError",
    "Edit",
    "Fact",
    "Func",
    "FuncName",
    "Fused",
    "Inlined",
    "Integer",
    "Kernel",
    "Kind",
    "Label",
    "Launch",
    "LaunchEdit",
    "Layout",
    "Leaf",
    "Loop",
    "Made",
    "Name",
    "NewName",
    "Node",
    "Note",
    "Number",
    "Numbered",
    "OneOf",
    "Parameter",
    "Piece",
    "Primitive",
    "Program",
    "ReducedAlong",
    "Reference",
    "Refusal",
    "Row",
    "Sequence",
    "Severity",
    "Sized",
    "SizedLabel",
    "State",
    "Step",
    "TensorName",
    "View",
    "Word",
    "Written",
    "in_sequence",
    "leaves",
    "loop_value",
    "loops",
    "rewrite",
]

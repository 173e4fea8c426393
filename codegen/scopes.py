"""Keeps track of what is visible where in a kernel that is being written: names, lanes, loads."""

from dataclasses import field

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Instruction, Lanes, Let, Load, LoopScalar, Mask, Step
from dtpoly.ir.kinds import Named
from dtpoly.ir.parts import assigned_by
from dtpoly.ir.tile_values import Converted, IndexValue, Test, Variable
from dtpoly.ir.tiled import tiled
from dtpoly.poly.loops import Bound

from .python_names import fresh
from .widths import has_large, names_of

OFFSET = Named("offset")
LaneKey = tuple[str, Affine, int | str, int]  # label, start, count, step
LoadKey = tuple[object, ...]


@dataclass(slots=True)
class Scope:
    """A block being written. What it binds for all that follows comes first."""

    variables: set[str]
    names: set[str]
    inner: set[str] = field(default_factory=set[str])  # names of blocks inside that are closed
    kinds: dict[str, object] = field(default_factory=dict[str, object])  # what names stand for
    # The names of branches inside that are closed: Triton keeps these names where it knows the
    # condition. Also the counters of loops, whose names Triton always keeps.
    leaked: dict[str, object] = field(default_factory=dict[str, object])
    head: list[Step] = field(default_factory=list[Step])
    body: list[Step] = field(default_factory=list[Step])
    lanes: dict[LaneKey, str] = field(default_factory=dict[LaneKey, str])
    masks: dict[tuple[Affine, str | None], str] = field(
        default_factory=dict[tuple[Affine, str | None], str]
    )
    scalars: dict[Bound, str] = field(default_factory=dict[Bound, str])
    # Variables that are as wide as offsets are.
    wide: set[str] = field(default_factory=set[str])
    indices: dict[Affine, str] = field(default_factory=dict[Affine, str])
    loads: dict[LoadKey, Variable] = field(default_factory=dict[LoadKey, Variable])


@dataclass(slots=True)
class Scopes:
    """The blocks that are open, outermost first."""

    open: list[Scope]
    counts: dict[str, int | str] = field(default_factory=dict[str, int | str])  # of lanes

    def name(self, wish: str, kind: object = None) -> str:
        """Return a name that nothing visible has, for a variable of some kind."""
        name = fresh(wish, self.visible() | self._leaked(kind))
        self._bind(self.open[-1], name, kind)
        return name

    def visible(self) -> set[str]:
        """Return the names that mean something here."""
        return {name for scope in self.open for name in scope.names}

    def close(self, *, is_branch: bool = False) -> None:
        """End the innermost block. A name that it used may be used elsewhere with another meaning.

        After a branch, that is so only for something of the same kind: a variable of Triton has one
        type.
        """
        done = self.open.pop()
        self.open[-1].inner |= done.names | done.inner
        if is_branch:
            self.open[-1].leaked |= done.leaked | done.kinds

    def counted(self, counter: str, bounds: tuple[Bound, ...]) -> None:
        """Note the end of a loop.

        Behind the loop, its counter keeps its name, and the type of its bounds.
        """
        wide = {name for scope in self.open for name in scope.wide}
        is_wide = any(wide & names_of(bound) for bound in bounds)
        kind = ("wide",) if is_wide else ("scalar", any(map(has_large, bounds)))
        self.open[-1].leaked[counter] = kind

    def _bind(self, home: Scope, name: str, kind: object) -> None:
        home.names.add(name)
        home.kinds[name] = kind

    def _leaked(self, kind: object) -> set[str]:
        """Return the names that stand for something else where a branch was taken."""
        return {
            name
            for scope in self.open
            for name, other in scope.leaked.items()
            if kind is None or kind != other
        }

    def _free(self, wish: str, home: Scope, kind: object) -> str:
        """Choose a name for an outer block.

        It is free there, in the blocks that are open inside, and in those that were.
        """
        since = self.open[next(i for i, scope in enumerate(self.open) if scope is home) :]
        taken = self.visible().union(*(scope.inner for scope in since))
        name = fresh(wish, taken | self._leaked(kind))
        self._bind(home, name, kind)
        return name

    def emit(self, instruction: Instruction, origin: str) -> None:
        """Add one more instruction to the innermost block."""
        self.open[-1].body.append(Step(instruction, origin))

    def load_of(self, name: str) -> Load | None:
        """Return the load that a visible tile comes from, if it is nothing but what was loaded."""
        steps = (step for scope in self.open for step in (*scope.head, *scope.body))
        found = [step.instruction for step in steps if name in assigned_by(step.instruction)]
        return found[0] if len(found) == 1 and isinstance(found[0], Load) else None

    def emit_rest(self, branch: Step) -> None:
        """Add a branch to the innermost block: the tail of a tiled loop, if it is one."""
        body = self.open[-1].body
        both = tiled(body[-1], branch) if body else None
        body[-1 if both else len(body) :] = [both or branch]

    def bound_lanes(
        self, label: str, start: Affine, count: int | str, step: int, origin: str
    ) -> str:
        """Return the variable of some lanes: bound as far out as what it starts from is known."""
        key = (label, start, count, step)
        for scope in self.open:
            if key in scope.lanes:
                return scope.lanes[key]
        home = self._home(start)
        name = self._free(label, home, ("lanes", count))
        self.counts[name] = count
        home.variables.add(name)
        home.lanes[key] = name
        home.head.append(Step(Lanes(name, start, count, step), origin))
        return name

    def bound_index(self, label: str, start: Affine, origin: str) -> Affine:
        """Give the index of a label without lanes, in the type of offsets.

        Loops count in 32 bits, so it may have to be converted first.
        """
        if set(start.labels) <= self.wide():
            return start
        for scope in self.open:
            if start in scope.indices:
                return Affine(((scope.indices[start], 1),))
        home = self._home(start)
        name = self._free(label, home, "index")
        home.variables.add(name)
        home.wide.add(name)
        home.indices[start] = name
        home.head.append(Step(Let(name, Converted(IndexValue(start, ()), (), OFFSET), ()), origin))
        return Affine(((name, 1),))

    def wide(self) -> set[str]:
        """Variables that are as wide as offsets are, other than lanes."""
        return {name for scope in self.open for name in scope.wide}

    def bound_mask(self, wish: str, test: Test, origin: str) -> str:
        """Return the name of a test on the lanes of one axis: bound where these lanes are."""
        key = (test.value, test.unless)
        for scope in self.open:
            if key in scope.masks:
                return scope.masks[key]
        home = self._home(test.value)
        name = self._free(wish, home, ("mask", *(self.counts[axis] for axis in test.axes)))
        home.masks[key] = name
        home.head.append(Step(Mask(name, test), origin))
        return name

    def bound_value(self, key: LoadKey, let: Let, variable: Variable, origin: str) -> Variable:
        """Return a value under a name, shared by all that need the same value."""
        self.open[-1].loads[key] = variable
        self.emit(let, origin)
        return variable

    def bound_load(self, key: LoadKey, load: Load, variable: Variable, origin: str) -> Variable:
        """Return a load of an input, shared by all that need the same elements."""
        self.open[-1].loads[key] = variable
        self.emit(load, origin)
        return variable

    def find_load(self, key: LoadKey) -> Variable | None:
        """Return the tile that was loaded before, if that can be seen."""
        return next((s.loads[key] for s in self.open if key in s.loads), None)

    def bind_scalar(self, wish: str, scalar: LoopScalar, origin: str) -> str:
        """Return a number of the loops, under a name."""
        scope = self.open[-1]
        if scalar.value not in scope.scalars:
            # After a branch a name is of one type only.
            name = self._free(wish, scope, ("scalar", has_large(scalar.value)))
            scope.variables.add(name)
            scope.scalars[scalar.value] = name
            scope.head.append(Step(LoopScalar(name, scalar.value), origin))
        return scope.scalars[scalar.value]

    def _home(self, start: Affine) -> Scope:
        seen: set[str] = set()
        for scope in self.open:
            seen |= scope.variables
            if set(start.labels) <= seen:
                return scope
        raise AssertionError(f"{start} is not known here")

"""The base class of all primitives: a directive with typed arguments, a stage, and checks."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dtpoly.algorithm.program import Argument, Directive
from dtpoly.algorithm.show import show_argument, show_directive
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import FuncName, Kind, Word
from dtpoly.schedule.argument_values import Name, Sized, as_argument, label_of
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.facts import Fact
from dtpoly.schedule.kernels import View
from dtpoly.schedule.reference import Reference
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel, asking
from dtpoly.source import Span

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.ir.body import Body
    from dtpoly.ir.kernel import Step
    from dtpoly.plan.price import Price
    from dtpoly.schedule.made_kernels import Made


class Stage(IntEnum):
    """When a directive is carried out.

    Directives are a set, so their order in the file does not say.
    """

    LOOPS = 1  # the loops of each kernel
    FUSIONS = 2  # producers before consumers
    REWRITES = 3  # of the fused loops; also a user's primitives
    OPTIONS = 4  # of a kernel
    COMPILE = 5


class Turn(IntEnum):
    """When a directive is carried out that makes loops, or decides which kernel computes a Func.

    Each turn finds the loops that those before it made.
    """

    INLINED = 1
    MEETINGS = 2  # which partial results meet in memory
    BLOCKS = 3
    DIVISIONS = 4
    ORDER = 5
    LANES = 6
    NUMBERING = 7  # of programs
    FUSIONS = 8


class Written(IntEnum):
    """The place where people write a directive among those of a kernel."""

    RESULT = 1  # what is asked for
    LOOPS = 2
    CODE = 3
    PROGRAMS = 4
    LAUNCH = 5


class Count(Enum):
    """The number of arguments that a parameter takes."""

    ONCE = "once"
    IF_GIVEN = "if given"  # the last argument, a word that may be missing; the value is a bool
    MAYBE = "maybe"  # the last argument, which may be missing; the value is then None
    EACH = "each"  # all arguments, each a setting of its own; the value is a tuple
    LIST = "list"  # all arguments, in an order that counts; the value is a tuple


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of a primitive and what it takes.

    Two directives with the same values of their keys are about the same thing.
    """

    name: str
    kind: Kind
    count: Count = Count.ONCE
    least: int = 1  # arguments, of EACH and LIST
    is_key: bool = False

    @property
    def takes_all(self) -> bool:
        """True if it takes all arguments."""
        return self.count in (Count.EACH, Count.LIST)


@dataclass(frozen=True, slots=True)
class Primitive:
    """A directive on a Func, with typed arguments; its str is the directive again.

    A subclass is a frozen dataclass: a field for each parameter, in the same order. All that
    `parameters` says is read and checked before `check` is called.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    # What other scheduling languages call it: an unknown name is answered with this one.
    elsewhere: ClassVar[tuple[str, ...]] = ()
    stage: ClassVar[Stage] = Stage.REWRITES
    turn: ClassVar[Turn | None] = None  # None if it comes after all that have one
    # Whether several on one Func are carried out as one that has the arguments of all.
    is_joined: ClassVar[bool] = False
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    needs_kernel: ClassVar[bool] = True  # it is about the Func's own kernel
    # Whether it says what is asked for, and not where or when that is computed.
    is_of_result: ClassVar[bool] = False
    written: ClassVar[Written] = Written.LAUNCH  # among the directives that are found for a kernel
    makes: ClassVar[frozenset[AxisKind]] = frozenset()  # axes that it makes or orders
    # Whether it does the same to schedules that differ in the sizes of blocks and tiles alone.
    ignores_sizes: ClassVar[bool] = False
    reference: ClassVar[Reference] = Reference()  # what the reference of the language says of it
    # Says how it keeps the order, where no dependence is concerned.
    order: ClassVar[str] = "it changes no order"

    func: str
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    def facts(self) -> Iterator[Fact]:
        """State the facts that other directives and other stages build on."""
        yield from ()

    @classmethod
    def saying(cls, fact: Fact) -> "Self | None":
        """Return the directive that states a fact; None if this one states no such fact."""
        return None

    def instead(self) -> Iterator[Fact]:
        """Yield what `why-not` may offer in its place, as facts that other directives state."""
        yield from ()

    def moved(self, label: str) -> Self:
        """Return the same at the loop over another label, if it says where a Func is computed."""
        return self

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Find what is wrong with the directive, apart from dependences."""
        yield from ()

    def apply(self, state: State) -> State:
        """Return the state with the directive carried out.

        What it does not find it leaves alone, or raises a `refusal`.
        """
        return state

    def edits(self, kernel: Kernel, state: State) -> bool:
        """Return whether `edit` and `rewrite` are called for a kernel of the state after `apply`.

        Unless a directive says otherwise, they are called for each kernel of its Func.
        """
        return kernel.func == self.func

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Return the launch of a kernel as the directive edits it, if it `edits` that kernel."""
        return launch

    def rewrite(self, body: "Body") -> "tuple[Step, ...]":
        """Return the steps of a kernel as the directive rewrites them, if it `edits` that."""
        return body.steps

    def priced(self, price: "Price", kernel: Kernel) -> "Price":
        """Return the predicted time of a kernel's launch with what the directive changes of it.

        The cost model calls it for each kernel that it `edits`. The model computes the time from
        the tree and the launch; this adds what cannot be seen there.
        """
        return price

    @classmethod
    def has_edits(cls) -> bool:
        """Return whether it has an `edit`, a `rewrite` or a `priced` of its own."""
        own = (cls.edit, cls.rewrite, cls.priced)
        return own != (Primitive.edit, Primitive.rewrite, Primitive.priced)

    def asked(self, state: State) -> State:
        """Return the state after `apply` in which kernels know that the directive edits them."""
        if not (self.has_edits() or isinstance(self, LaunchEdit)):
            return state
        kernels = (asking(one, self) if self.edits(one, state) else one for one in state.kernels)
        return replace(state, kernels=tuple(kernels))

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report that the code would be the same without it, or without some of its arguments."""
        yield from ()

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the directive that says its part of a layout; None if it has nothing to say."""
        return None

    def why(self, decided: Decided) -> str:
        """Say in a line why it is there, if it was made of a layout."""
        return ""

    def depends(self) -> Depends | None:
        """Say what of it a verdict can depend on, if the algorithm is aligned.

        None, if that may be everything that a schedule says.
        """
        return Depends((self,)) if self.ignores_sizes else None

    def ahead(self) -> Self | None:
        """Return it with arguments that let loads run ahead; None if it has no such arguments."""
        return None

    @property
    def may_be_refused(self) -> bool:
        """Return whether it may change the order of what depends on each other."""
        return self.stage < Stage.OPTIONS

    def words(self) -> tuple[str, ...]:
        """Say each thing that the directive asks for, as `explain` shows it.

        Only settings are things by themselves: the order of other arguments counts.
        """
        said = tuple(map(show_argument, self.directive().arguments))
        counts = [one.count for one in self.parameters]
        if counts == [Count.EACH]:
            return said
        return ((" and " if Count.LIST in counts else ", ").join(said),) if said else ("on",)

    def mistake(
        self, title: str, at: Span | None = None, label: str = "", hint: str = ""
    ) -> Diagnostic:
        """Make the error that a user's own primitive reports.

        It is about an argument, or about the whole directive.
        """
        label, at = label or "cannot be done", at or self.span
        return Diagnostic("DT228", Severity.ERROR, title, at, label, hint=hint or self._way_on(at))

    def _way_on(self, at: Span | None) -> str:
        """Return the hint of a mistake that gives none; the arguments are of the right kinds."""
        if at is not None and at != self.span:
            return f"write something else instead of '{at.text}', or remove the directive"
        return "change its arguments, or remove it" if self.parameters else "remove it"

    def refusal(
        self, title: str, at: Span | None = None, label: str = "", hint: str = ""
    ) -> DtpolyError:
        """Return the same for an `apply`, which raises it."""
        return DtpolyError([self.mistake(title, at, label, hint)])

    def contradiction(self, other: str, why: Note) -> Diagnostic:
        """Make the error that this directive and another one cannot both be meant."""
        return Diagnostic(
            "DT187",
            Severity.ERROR,
            f"'{str(self).rstrip(';')}' contradicts '{other.rstrip(';')}'",
            self.span,
            "contradicts the other one",
            (why,),
            "keep one of them",
        )

    def with_arguments_of(self, other: Self) -> Self:
        """Put the settings of another directive before its own, each of them once."""
        name = self.parameters[-1].name
        settings = dict.fromkeys((*getattr(other, name), *getattr(self, name)))
        changed: dict[str, Any] = {name: tuple(settings)}
        return replace(self, **changed)

    def on(self, host: str) -> Self:
        """Return the directive that says the same to the Func that this one is fused into."""
        return replace(self, func=host)

    def without(self, label: str) -> Self | None:
        """Return the same without its settings for a label; None if no setting is left."""
        return self._with(one for one in self._each() if getattr(one, "label", None) != label)

    def of_parts(self, name: str) -> Self | None:
        """Return what it says to the kernel of the parts that a label numbers."""
        return self._with(one for one in self._each() if _qualifier(one) != name)

    def of_merge(self, name: str) -> Self | None:
        """Return what it says to the kernel that merges the parts which a label numbers.

        What it says of this kernel alone counts there, and not what it says of all.
        """
        alone = {label_of(one) for one in self._each() if _qualifier(one) == name}
        return self._with(
            replace(one, producer=None) if _qualifier(one) == name else one
            for one in self._each()
            if _qualifier(one) is not None or not alone or label_of(one) not in alone
        )

    def _each(self) -> tuple[Any, ...]:
        """Return its settings, if its arguments are that."""
        has_settings = any(one.count is Count.EACH for one in self.parameters)
        return getattr(self, self.parameters[-1].name) if has_settings else ()

    def _with(self, settings: Iterable[Any]) -> Self | None:
        """Return the same with other settings, if it has any; None if none is left."""
        if not any(one.count is Count.EACH for one in self.parameters):
            return self
        left = tuple(settings)
        changed: dict[str, Any] = {self.parameters[-1].name: left}
        return replace(self, **changed) if left else None

    def of(self, names: Mapping[str, str]) -> Self:
        """Return the same with other Funcs in the place of some, wherever it names them."""
        changed: dict[str, Any] = {"func": names.get(self.func, self.func)}
        for parameter in self.parameters:
            value: Any = getattr(self, parameter.name)
            if isinstance(parameter.kind, FuncName) and isinstance(value, Name):
                changed[parameter.name] = replace(value, text=names.get(value.text, value.text))
        return replace(self, **changed)

    def directive(self) -> Directive:
        """Return the directive that reads as this primitive."""
        arguments: list[Argument] = []
        for parameter in self.parameters:
            value: Any = getattr(self, parameter.name)
            match parameter.count:
                case Count.ONCE:
                    arguments.append(as_argument(value))
                case Count.IF_GIVEN:
                    assert isinstance(parameter.kind, Word)
                    arguments.extend(Argument(word) for word in parameter.kind.words if value)
                case Count.MAYBE:
                    arguments.extend(as_argument(one) for one in (value,) if one is not None)
                case Count.EACH | Count.LIST:
                    arguments.extend(map(as_argument, value))
        return Directive(self.func, self.name, tuple(arguments), self.span)

    def __str__(self) -> str:
        return show_directive(self.directive())


def _qualifier(setting: object) -> str | None:
    """Return what a setting is about alone: a Func, or the kernel that merges parts."""
    return setting.producer if isinstance(setting, Sized) else None


@dataclass(frozen=True, slots=True)
class LaunchEdit(Primitive):
    """A directive that leaves the tree as it is.

    `edit` says what it changes of a launch, and `rewrite` what it makes of the code.
    """

    stage: ClassVar[Stage] = Stage.OPTIONS


def signatures(primitive: type[Primitive], func: str = "f") -> tuple[str, ...]:
    """Return the ways to write a directive: without what may be missing, and with it."""
    forms: list[str] = []
    found: list[tuple[str, ...]] = []
    for parameter in primitive.parameters:
        may_miss = parameter.takes_all and not parameter.least
        if may_miss or parameter.count in (Count.IF_GIVEN, Count.MAYBE):
            found.append(tuple(forms))
        forms.append(parameter.kind.form)
        if parameter.takes_all:
            forms.append("...")
    found.append(tuple(forms))
    return tuple(f"{func}.{primitive.name}({', '.join(form)})" for form in found)

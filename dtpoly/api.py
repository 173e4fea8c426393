"""Offers dtpoly to Python: an object is scheduled step by step, proved, shown and called.

An object is made from a .dt text, and never changes: each step returns a new one. It speaks with
the words of the language: `load("mm.dt").mm.block(m=32).tensorize(m=0, k=16)`.
"""

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import cached_property, partial
from importlib import import_module
from inspect import cleandoc
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from dtpoly import __version__
from dtpoly.algorithm.program import Directive, Program
from dtpoly.algorithm.show import show
from dtpoly.checking import Checked, understand
from dtpoly.codegen.header import header
from dtpoly.codegen.python_names import file_names
from dtpoly.diagnostics import Diagnostic, DtpolyError, has_errors, in_source_order
from dtpoly.directive_words import directive_text
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.parse import parse as parse_source
from dtpoly.frontend.reading import read_file
from dtpoly.frontend.syntax import File
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of, outputs, results_of
from dtpoly.judged_schedule import Judged
from dtpoly.notebook import as_layers
from dtpoly.plan.runtime_text import RUNTIMES, Runtime
from dtpoly.plugins import InFile, completed, from_portable, portable, with_plugins
from dtpoly.points import source_at
from dtpoly.python_errors import ShownText, error_of, told
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.rescheduling import TYPED, add, instead, named, read, sources_of, without
from dtpoly.runtime.cache import remembered
from dtpoly.runtime.loaded_functions import functions
from dtpoly.runtime.mixed import has_products, mixed_product
from dtpoly.runtime.traced_calls import is_left_as_written, run_while_traced, tell_autocast
from dtpoly.schedule.primitive import Primitive, signatures
from dtpoly.source import Source
from dtpoly.suggest import did_you_mean
from dtpoly.tuned.call_sizes import CallFacts
from dtpoly.tuned.same_results import check_results
from dtpoly.tuned.tuned_calls import TunedSchedules
from dtpoly.tuned.tuned_file import read_tuned
from dtpoly.verdict_messages import of_emitted
from dtpoly.verification import Proved, proved
from dtpoly.verify.proof.report import LayerVerdict as Found

if TYPE_CHECKING:  # it is loaded when a call needs it
    from dtpoly.tuned.choosing import SchedulesAtHand

Plugins = Iterable[str | Path | type[Primitive]]
NESTED = (
    "a nested tensor has no size that its rows share, and kernels are for tensors that have one: "
    "pass its values(), or its to_padded_tensor(...)"
)
CHECK = "DTPOLY_CHECK"  # in the environment: whether calls check their data
LEGAL = "legal for all sizes"
PROOF = 30.0  # seconds of the processor for what a call runs: it is proved once, and then kept
Dtypes = tuple[object, ...]  # of the arguments of a call, None for those that have none


@overload
def load(
    path: str | Path,
    plugins: Plugins = (),
    *,
    verify: bool = True,
    runtime: Runtime = "carry",
    tuned: None = None,
    point: str | None = None,
    check_data: bool | None = None,
) -> "Scheduled": ...


@overload
def load(
    path: str | Path,
    plugins: Plugins = (),
    *,
    verify: bool = True,
    runtime: Runtime = "carry",
    tuned: str | Path,
    check_data: bool | None = None,
) -> "TunedSchedules[Scheduled]": ...


def load(
    path: str | Path,
    plugins: Plugins = (),
    *,
    verify: bool = True,
    runtime: Runtime = "carry",
    tuned: str | Path | None = None,
    point: str | None = None,
    check_data: bool | None = None,
) -> "Scheduled | TunedSchedules[Scheduled]":
    """Return the .dt file at a path. Raises DtpolyError if it is wrong.

    Plugins are primitives of one's own, or Python files that define some. What is generated is
    proved to compute the algorithm before it runs, unless that is not wanted. With a file of tuned
    schedules each call takes that which is nearest to its device, dtype and sizes. Of a space of
    schedules (.dts) a point is taken, as `dtpoly space` lists them: point="block=x:4 num_warps=8".
    The generated file carries the runtime, or imports it from dtpoly (`dtpoly compile --runtime`).
    With `check_data`, or with DTPOLY_CHECK=1 in the environment, each call first looks whether data
    that is an index is inside and keeps what the file promises.
    """
    with told(), deep_recursion():
        source = read_file(str(path)) if point is None else source_at(str(path), point)
        found = _read(source, plugins, verify, runtime, check_data)
        return found if tuned is None else _tuned(found, tuned)


def _tuned(found: "Scheduled", path: str | Path) -> "TunedSchedules[Scheduled]":
    tuned = read_tuned(path)
    check_results(tuned, str(path), found.program, found.name)
    of, chosen = partial(_tuned_of, str(path), tuned.program, found), partial(_chosen_for, found)
    words = (str(path), tuned, of, found)
    return TunedSchedules(*words, at_hand=chosen, is_open=not found.is_scheduled)


def _chosen_for(found: "Scheduled", facts: CallFacts) -> "Scheduled | None":
    """Return what the cost model chooses for a call; None where it does not know the device."""
    return found._at_hand.chosen_for(facts)  # pyright: ignore[reportPrivateUsage]


def _tuned_of(
    path: str, program: Program, like: "Scheduled", directives: tuple[Directive, ...]
) -> "Scheduled":
    return _like(like, path, show(replace(program, directives=directives)))


def _like(like: "Scheduled", name: str, text: str) -> "Scheduled":
    """Read a text as another schedule was read."""
    parsed = parse_source(Source(name, text))
    return _understood(understand(parsed.file, parsed.found, like.primitives), like)


def parse(
    text: str,
    plugins: Plugins = (),
    name: str = "<text>",
    *,
    verify: bool = True,
    runtime: Runtime = "carry",
    check_data: bool | None = None,
) -> "Scheduled":
    """Read a .dt text. `name` stands for its file in messages. Raises DtpolyError."""
    with told(), deep_recursion():
        return _read(Source(name, text), plugins, verify, runtime, check_data)


def _read(
    source: Source, plugins: Plugins, verify: bool, runtime: Runtime, check_data: bool | None
) -> "Scheduled":
    if runtime not in RUNTIMES:
        meant = did_you_mean(runtime, RUNTIMES)
        raise ValueError(f"runtime='{runtime}' is none of {', '.join(RUNTIMES)}{meant}")
    primitives = with_plugins(plugins)
    parsed = parse_source(source)
    checked = understand(parsed.file, parsed.found, primitives)
    is_asked = os.environ.get(CHECK, "0") not in ("", "0")
    checks = is_asked if check_data is None else check_data
    return _made(checked, None, verify, runtime == "carry", checks)


def _understood(checked: Checked, like: "Scheduled") -> "Scheduled":
    """Return what was understood, which is made and called as another one is."""
    return _made(checked, like.focus, like.verifies, like.carries_runtime, like.checks_data)


def _made(
    checked: Checked, focus: str | None, verify: bool, carries_runtime: bool, checks_data: bool
) -> "Scheduled":
    if checked.program is None:
        raise DtpolyError(in_source_order(checked.diagnostics))
    return Scheduled(checked, checked.program, focus, verify, carries_runtime, checks_data)


def _read_again(
    texts: Iterable[tuple[str, str]],
    plugins: Iterable[type[Primitive] | InFile],
    focus: str | None,
    verify: bool,
    carries_runtime: bool = True,
    checks_data: bool = False,
) -> "Scheduled":
    """Build an object again, maybe in another process, from the parts of `Scheduled.__reduce__`."""
    with told(), deep_recursion():
        known = read(tuple(starmap(Source, texts)))
        checked = understand(known.file, known.found, from_portable(plugins))
        return _made(checked, focus, verify, carries_runtime, checks_data)


@dataclass(frozen=True, repr=False, eq=False)
class Scheduled(Judged):
    """An algorithm and its schedule. Nothing changes it: each step gives another one.

    `k.f` turns to the Func f, and `k.f.block(x=16)` says a directive of it; the answer is still
    turned to f, so that steps follow each other: `k.f.block(x=16).tensorize(x=4)`. What a step
    says must be right by itself; whether the schedule is legal is only asked by `verdict`,
    `diagnostics` and `check`, for directives are a set and the last one may make it so.
    """

    focus: str | None = None  # the Func that directives are said of
    verifies: bool = True  # whether what is generated is proved before it runs
    carries_runtime: bool = True  # whether what is generated needs no dtpoly where it runs
    checks_data: bool = False  # whether each call looks at data that is an index
    # Functions, since torch.compile would trace a method. It is told to run these while it traces.
    # They take no schedule: torch 2.11 lets no argument of theirs be a frozen dataclass.
    _ready: Callable[[], bool] = field(init=False)
    _tell_mixed: Callable[[Dtypes, tuple[str, ...]], None] = field(init=False)
    _chooses: Callable[[], bool] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ready", run_while_traced(_makes_ready(self)))
        object.__setattr__(self, "_tell_mixed", run_while_traced(_tells_mixed(self)))
        object.__setattr__(self, "_chooses", run_while_traced(_chooses_at_calls(self)))

    def schedule(self, directives: str) -> "Scheduled":
        """Return the same with more directives, written as in a file. Raises DtpolyError."""
        return self._with(directives)[0]

    def _with(self, directives: str) -> tuple["Scheduled", int]:
        """Return the same with more directives, and how many these are."""
        with told(), deep_recursion():
            added = add(self.checked.file, Source(TYPED, directives))
            if has_errors(added.found):
                raise DtpolyError(in_source_order(added.found))
            return self._of(added.file), added.added

    def without(self, *directives: str) -> "Scheduled":
        """Return the same without some directives; what is left must be right by itself.

        `k.without("f.block")` leaves every block of f out, `k.without("f.block(x:4)")` that one.
        """
        known, sources = self.program.directives, sources_of(self.checked.file)
        with told(), deep_recursion():
            gone = [named(known, one, sources, self.primitives) for one in directives]
            spans = [one.span for ones in gone for one in ones if one.span is not None]
            return self._of(read(without(sources, spans)).file)

    def instead(self, directives: str) -> "Scheduled":
        """Return the same with these directives, each in the place of those that contradict it."""
        with told(), deep_recursion():
            sources, text = sources_of(self.checked.file), Source(TYPED, directives)
            return self._of(read(instead(sources, text, self.primitives)).file)

    @property
    def algorithm(self) -> "Scheduled":
        """Return the same without any directive."""
        spans = [one.span for one in self.program.directives if one.span is not None]
        return self._of(read(without(sources_of(self.checked.file), spans)).file)

    def _of(self, file: File) -> "Scheduled":
        """Return another schedule of the algorithm, with the same Func selected.

        Raises DtpolyError.
        """
        checked = understand(file, (), self.primitives)
        return _understood(checked, self)

    def __copy__(self) -> "Scheduled":
        return self  # nothing changes it

    def __deepcopy__(self, _: object) -> "Scheduled":
        return self

    def __reduce__(self) -> tuple[Callable[..., "Scheduled"], tuple[object, ...]]:
        """Pickle the texts only: whoever loads them proves them again, or takes the cache."""
        texts = tuple((one.name, one.text) for one in sources_of(self.checked.file))
        own = portable(self.primitives)
        said = (self.focus, self.verifies, self.carries_runtime, self.checks_data)
        return _read_again, (texts, own, *said)

    def __getitem__(self, func: str) -> "Scheduled":
        """Return the same, turned to a Func; also to one whose name means something else here."""
        __tracebackhide__ = True  # A notebook shows the line that is wrong, and not this one.
        if self.program.find_func(func) is None:
            raise KeyError(f"there is no Func '{func}'{did_you_mean(func, self._funcs())}")
        return replace(self, focus=func)

    def __getattr__(self, name: str) -> Any:
        """Return a directive of the Func that it is turned to, or another Func to turn to."""
        __tracebackhide__ = True
        hidden = name.startswith("_") or name in Scheduled.__dataclass_fields__
        if not hidden and self.focus is not None:
            cls = self._primitive(self.focus, name)
            if cls is not None:
                return self._step(self.focus, name, cls)
        if not hidden and self.program.find_func(name) is not None:
            return self[name]
        raise AttributeError(f"there is no '{name}'{'' if hidden else self._meant(name)}")

    def _meant(self, name: str) -> str:
        func = next(reversed(self._funcs()), "f")
        if self._primitive(func, name) is not None:
            return f"; say of which Func: {func}.{name}(...)"
        return did_you_mean(name, dir(self))

    def __dir__(self) -> list[str]:
        """Return the names that are of use now, such as those of directives, for completion."""
        words = (cls.name for cls in self.primitives) if self.focus is not None else ()
        return [*super().__dir__(), *self._funcs(), *words]

    def _funcs(self) -> tuple[str, ...]:
        return tuple(func.name for func in self.program.funcs)

    def _primitive(self, func: str, word: str) -> type[Primitive] | None:
        every = completed((Directive(func, word),), self.primitives).primitives
        return next((cls for cls in every if word in (cls.name, *cls.aliases)), None)

    def _step(self, func: str, word: str, cls: type[Primitive]) -> "Step":
        def step(*arguments: "str | int | Scheduled", **sizes: int | str) -> "Scheduled":
            __tracebackhide__ = True
            text = directive_text(func, word, arguments, sizes)
            scheduled, count = self._with(text)
            if count != 1:
                raise ValueError(f"these arguments are not those of one directive: {text}")
            return scheduled

        step.__name__ = step.__qualname__ = word
        step.__doc__ = "\n".join((*signatures(cls, func), "", cleandoc(cls.__doc__ or "")))
        return step

    @property
    def report(self) -> ShownText:
        """Return whether the schedule is legal, and why not; if it is, what each directive does.

        At its end what is proved of the code that is generated, layer by layer.
        """
        said = plain(render(self.diagnostics)) if self.diagnostics else ""
        if not self.is_legal:
            return ShownText(said)
        parts = [f"{self.name} is {LEGAL}\n", said, self.explain()]
        if self.verifies:
            try:
                parts.append(as_layers(self._proof.report, self._unproved))
            except DtpolyError as error:
                parts.append(plain(render(error.diagnostics)))
        return ShownText("\n".join(filter(None, parts)))

    @cached_property
    def source(self) -> str:
        """Return the Python file that `dtpoly compile` writes. Raises DtpolyError if it is refused.

        So it does if the text is found to be wrong, which is a bug of dtpoly. What cannot be
        proved is warned of.
        """
        if not self.verifies:
            return self._generated
        if self._proof.report.verdict is Found.REFUTED:
            raise error_of(self._unproved)
        if self._unproved:
            warnings.warn(plain(render(self._unproved)), stacklevel=2)
        return self._proof.text

    @property
    def _unproved(self) -> tuple[Diagnostic, ...]:
        found = self._proof
        kernels, state = Source("<kernels>", found.text), self.verdict.scheduled
        return of_emitted(found.report, kernels, self.name, state)

    @cached_property
    def _proof(self) -> Proved:
        with deep_recursion():
            return proved(self.program, self._generated, outputs(self.program), PROOF)

    @cached_property
    def _generated(self) -> str:
        heading = header(__version__, self.name)

        def make() -> str:
            with told(), deep_recursion():
                state, carries = self.check().verdict.scheduled, self.carries_runtime
                return code_of(state, heading, carries_runtime=carries).text

        # What a primitive of one's own does, its name does not say.
        if self.primitives != DIRECTIVES:
            return make()
        form = "" if self.carries_runtime else "imports"
        return remembered(["file", str(self), heading, form], make)

    @cached_property
    def function(self) -> Callable[..., Any]:
        """Return the Python function of the compiled Func; the file is loaded only once.

        Of several such Funcs it is that which this is turned to. Raises what `source` raises, and
        ModuleNotFoundError where torch or triton is missing.
        """
        compiled = outputs(self.program)
        if len(compiled) > 1 and self.focus not in compiled:
            which = f"{', '.join(compiled[:-1])} and {compiled[-1]}"
            raise ValueError(f"{self.name} compiles {which}: turn to one, as in k.{compiled[0]}")
        found = functions(self.program, self.source, next(iter(compiled), ""))
        func = self.focus if self.focus in found else next(iter(found))
        if not self.checks_data:
            return found[func]
        calls: Any = import_module("dtpoly.runtime.checked_calls")
        results = results_of(self.program, compiled)[func]
        checked: Callable[..., Any] = calls.checked(self.program, found[func], results, error_of)
        return checked

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Return what the Func that is compiled is of these inputs, computed by its kernels.

        If the file has no schedule, the cost model chooses one on a GPU, for the sizes of the call.
        Takes what `function` takes: inputs in the order declared or by name, `out=`, sizes that
        no tensor shows.
        """
        __tracebackhide__ = True
        for one in (*inputs, *named.values()):
            if getattr(one, "is_nested", False):
                raise TypeError(NESTED)
        if self._chooses() and (one := self._at_hand.schedule_for(inputs, named)) is not self:
            return one(*inputs, **named)
        multiplies = self._ready()
        tell_autocast()
        if multiplies:
            dtypes = tuple(getattr(one, "dtype", None) for one in (*inputs, *named.values()))
            self._tell_mixed(dtypes, tuple(named))
        return self.function(*inputs, **named)

    @cached_property
    def _at_hand(self) -> "SchedulesAtHand[Scheduled]":
        """Return what schedules calls by the cost model."""
        choosing: Any = import_module("dtpoly.tuned.choosing")
        of = partial(_like, self, self.name)
        words = (self.name, self.program, self.primitives, str(self), of, self)
        found: SchedulesAtHand[Scheduled] = choosing.SchedulesAtHand(*words)
        return found

    @cached_property
    def _multiplies(self) -> bool:
        """Return whether a Func is a product as tensor cores compute them."""
        return has_products(self.program)

    @cached_property
    def _mixed(self) -> dict[object, str]:
        """Return the warnings about products of two float types so far, by the types of a call."""
        return {}

    def __repr__(self) -> str:
        at, count = f" at {self.focus}" if self.focus else "", len(self.program.directives)
        plural = "" if count == 1 else "s"
        funcs = ", ".join(self._funcs())
        return f"<Scheduled {self.name}{at}: {funcs}; {count} directive{plural}>"

    def __eq__(self, other: object) -> bool:
        """Equal programs, by the same primitives; it does not count where it is turned to."""
        if not isinstance(other, Scheduled):
            return NotImplemented
        return (self.program, self.primitives) == (other.program, other.primitives)

    def __hash__(self) -> int:
        return hash((self.program, self.primitives))


Step = Callable[..., Scheduled]


def _makes_ready(scheduled: Scheduled) -> Callable[[], bool]:
    def make_ready() -> bool:
        """Generate, prove and load, unless that was done; whether it multiplies."""
        _ = scheduled.function
        return scheduled._multiplies  # pyright: ignore[reportPrivateUsage]

    return make_ready


def _chooses_at_calls(scheduled: Scheduled) -> Callable[[], bool]:
    def chooses() -> bool:
        """Return whether a call chooses the schedule: there is none, and torch is not tracing."""
        return not scheduled.is_scheduled and not is_left_as_written(scheduled.name)

    return chooses


def _tells_mixed(scheduled: Scheduled) -> Callable[[Dtypes, tuple[str, ...]], None]:
    def tell_mixed(dtypes: Dtypes, named: tuple[str, ...]) -> None:
        """Warn of a product of two float types, which is computed in the wider one."""
        key, known = (dtypes, named), scheduled._mixed  # pyright: ignore[reportPrivateUsage]
        if key not in known:
            words = file_names(scheduled.program, (), ()).inputs
            placed = [*words.values()][: len(dtypes) - len(named)]
            of = dict(zip((*placed, *named), map(str, dtypes), strict=False))
            given = {name: of[word] for name, word in words.items() if word in of}
            known[key] = mixed_product(scheduled.program, given)
        if known[key]:
            warnings.warn(known[key], stacklevel=3)

    return tell_mixed

"""Checks the schedule of a Program for everything that is wrong before dependences are looked at.

These are the static checks: arguments, names, and each primitive's own rules. `legality` judges
only schedules that pass them.
"""

from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import replace
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity, has_errors, in_source_order
from dtpoly.schedule.argument_values import word_span
from dtpoly.schedule.begun_sums import check_starts
from dtpoly.schedule.bound_primitives import BoundDirectives, Primitives, bind, compiling
from dtpoly.schedule.facts import Fact, NewName, OfLaunch
from dtpoly.schedule.foreign import checked
from dtpoly.schedule.inlined_size import check_inlined
from dtpoly.schedule.kernels import View, find_kernels, reached
from dtpoly.schedule.primitive import Count, Primitive, Stage
from dtpoly.schedule.settings import check_settings
from dtpoly.source import Span


def check_schedule(program: Program, primitives: Primitives) -> list[Diagnostic]:
    """Bind the directives and check each.

    All errors are found: a wrong directive spoils no other one.
    """
    names = {func.name for func in program.funcs}
    bound = bind((d for d in program.directives if d.func in names), primitives)
    view = view_of(program, bound)
    found = [*bound.found, *check_settings(bound.primitives)]
    found.extend(check_names(program, facts_of(bound.primitives)))
    found.extend(_check_primitives(view, bound, primitives))
    found.extend(_check_needed(view, bound, compiling(primitives)))
    found.extend(check_starts(view, bound.primitives))
    found.extend(check_inlined(view))
    return list(in_source_order(found))


def check_arguments(program: Program, primitives: Primitives) -> list[Diagnostic]:
    """Find what is wrong with the directives alone, whatever the algorithm is."""
    return list(bind(program.directives, primitives).found)


def facts_of(primitives: Iterable[Primitive]) -> Iterator[Fact]:
    """Collect all that the primitives say about kernels."""
    return (fact for primitive in primitives for fact in primitive.facts())


def view_of(program: Program, bound: BoundDirectives) -> View:
    """Return the kernels of a Program under the primitives that are bound."""
    return find_kernels(program, facts_of(bound.primitives), bound.wrong)


def check_primitive(primitive: Primitive, view: View) -> tuple[Diagnostic, ...]:
    """Find what is wrong with one directive: its kernel, its arguments, then its own rules."""
    return checked(primitive, lambda: _mistakes(primitive, view))


def _mistakes(primitive: Primitive, view: View) -> Iterator[Diagnostic]:
    if primitive.needs_kernel and primitive.func not in view.kernels:
        yield _no_kernel(primitive, view)
        return
    for parameter in primitive.parameters:
        value: Any = getattr(primitive, parameter.name)
        if parameter.count is Count.EACH:
            good: list[object] = []
            for item in value:
                wrong = list(parameter.kind.check(item, primitive.func, view))
                yield from wrong
                if not wrong:
                    good.append(item)
            changed: dict[str, Any] = {parameter.name: tuple(good)}
            primitive = replace(primitive, **changed)
            continue
        items = value if parameter.count is Count.LIST else (value,)
        wrong = [w for item in items for w in parameter.kind.check(item, primitive.func, view)]
        if wrong:
            yield from wrong
            return
    yield from primitive.check(view)


def _check_primitives(
    view: View, bound: BoundDirectives, primitives: Primitives
) -> Iterator[Diagnostic]:
    """Check fusions first, those of consumers before those of producers.

    While a fusion is wrong, it is open which Func is in which kernel. So other directives on these
    Funcs are not checked.
    """
    place = {name: at for at, name in enumerate(view.placement.hosts)}
    fusions = [p for p in bound.primitives if p.stage is Stage.FUSIONS]
    for primitive in sorted(fusions, key=lambda p: place[p.func]):
        found = check_primitive(primitive, view)
        yield from found
        if has_errors(found):
            view = replace(view, wrong={*view.wrong, (primitive.func, primitive.name)})
    harmless = {cls.name for cls in primitives if cls.stage is not Stage.FUSIONS}
    open_funcs: set[str] = set()
    for func, name in view.wrong:
        if name not in harmless:
            open_funcs |= {func, *reached(func, view.placement.readers)}
    for primitive in bound.primitives:
        if primitive.stage is not Stage.FUSIONS and primitive.func not in open_funcs:
            yield from check_primitive(primitive, view)


def _no_kernel(primitive: Primitive, view: View) -> Diagnostic:
    func = primitive.func
    hosts = [h for h in view.placement.hosts[func] if h in view.needed or func not in view.needed]
    listed = " and ".join(f"'{host}'" for host in hosts)
    moved = {host: primitive.on(host) for host in hosts}
    good = [host for host, there in moved.items() if _may_stand(there, view)]
    offered = " or ".join(f"'{host}'" for host in good)
    if func in view.inlined:
        label = f"'{func}' is inlined"
        notes = [Note("inlined here", view.inlined[func].span)]
        hint = f"put it on {offered}, which computes it"
    else:
        label = f"'{func}' is computed inside of {listed}"
        notes = [Note("fused here", fused.span) for fused in view.fused[func]]
        texts = (str(moved[host]).rstrip(";") for host in good)
        hint = f"put it on {offered}: {'  or  '.join(texts)}"
    title = f"'{func}' has no kernel of its own for '{primitive.name}'"
    return Diagnostic(
        "DT186",
        Severity.ERROR,
        title,
        primitive.span,
        label,
        tuple(notes),
        hint if good else "remove it",
    )


def _may_stand(moved: Primitive, view: View) -> bool:
    """Return whether a directive may stand on another Func: an option, if the checks there pass.

    Other directives pass: they say more than the view has facts of.
    """
    is_option = moved.stage is Stage.OPTIONS
    is_option = is_option and all(isinstance(fact, OfLaunch) for fact in moved.facts())
    return not is_option or not has_errors(check_primitive(moved, view))


def check_names(program: Program, facts: Iterable[Fact]) -> Iterator[Diagnostic]:
    """New names that are taken: by a declaration, or by another new name of the same Func."""
    declared: dict[str, Span | None] = {
        thing.name: thing.span for thing in (*program.labels, *program.inputs, *program.funcs)
    }
    first: dict[tuple[str, str], NewName] = {}
    for fact in facts:
        if not isinstance(fact, NewName):
            continue
        before = first.setdefault((fact.func, fact.name), fact)
        # The same label divided twice by one primitive is told as a contradiction.
        same = (before.of, before.by) == (fact.of, fact.by)
        if fact.name not in declared and same:
            continue
        other = declared.get(fact.name, before.span)
        yield Diagnostic(
            "DT189",
            Severity.ERROR,
            f"the name '{fact.name}' is taken",
            word_span(fact.span, fact.name),
            "must be a new name",
            (Note("declared here" if fact.name in declared else "introduced here", other),),
            f"choose another name, such as {_free(fact, declared.keys(), first.keys())}",
        )


def _free(fact: NewName, declared: Set[str], introduced: Set[tuple[str, str]]) -> str:
    for ending in ("i", "o", "b", *(f"i{n}" for n in range(2, len(introduced) + 3))):
        name = fact.of + ending
        if name not in declared and (fact.func, name) not in introduced:
            return name
    return f"{fact.of}_{fact.by}"


def _check_needed(
    view: View, bound: BoundDirectives, asking: Collection[str]
) -> Iterator[Diagnostic]:
    """Report that nothing is compiled, or that a Func with directives is not needed."""
    if not view.compiled:
        if view.funcs and not any(name in asking for _, name in bound.wrong):
            yield _nothing_compiled(view)
        return
    told: set[str] = set()
    for primitive in bound.primitives:
        func = primitive.func
        if func in view.needed or func in told:
            continue
        told.add(func)
        compiled = ", ".join(name for name in view.funcs if name in view.compiled)
        yield Diagnostic(
            "DT178",
            Severity.WARNING,
            f"no compiled Func needs '{func}'",
            primitive.span,
            "has no effect",
            (Note(f"compiled: {compiled}"),),
            f"compile it with {func}.compile(); or remove its directives",
        )


def _nothing_compiled(view: View) -> Diagnostic:
    last = view.program.funcs[-1]
    outputs = [func for func in view.funcs.values() if not view.placement.readers[func.name]]
    directives = [f"{func.name}.compile();" for func in outputs]
    span = last.span
    edits: tuple[Edit, ...] = ()
    if span is not None:
        text = span.source.text
        end = Span(span.source, len(text), len(text))
        line = "" if text.endswith("\n") else "\n"
        edits = (Edit(end, line + "".join(f"{directive}\n" for directive in directives)),)
    return Diagnostic(
        "DT177",
        Severity.WARNING,
        "nothing is compiled",
        span,
        "no directive asks for a kernel",
        hint=f"add {' '.join(directives[:4])}",
        edits=edits,
    )

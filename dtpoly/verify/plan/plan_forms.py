"""Make a `CallPlan` of the literal in a file, or say where it is not as docs/plan.md says.

Each key must be known, each value must be of its form, and each name must be there. Nothing is
taken for something that it only resembles: whatever is not foreseen raises Unread.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.plan.call_plan import (
    CallPlan,
    Demand,
    GivenInput,
    GivenNumber,
    GivenTensor,
    GivenUnread,
    InPanels,
    InsideDemand,
    KernelType,
    LabelSize,
    ShapeDemand,
    SizeDemand,
    SomeDemand,
)
from dtpoly.verify.plan.formula_parsing import (
    WORDS,
    Dtype,
    Formula,
    applied,
    dtype_of,
    formula_of,
    formulas_in_braces,
    names_in,
)
from dtpoly.verify.plan.launch_forms import launch_of
from dtpoly.verify.plan.literals import (
    Datum,
    DictLiteral,
    PlainLiteral,
    datum_of,
    is_none,
    parts_of,
    table,
    text,
    texts,
    whole,
    word,
)
from dtpoly.verify.plan.tables import check_keys, each, formulas, listed, made_of, result_of

KEYS = frozenset(
    (
        *("function", "names", "inputs", "sizes", "passed", "limits", "shown", "demands", "meet"),
        *("types", "adds", "results", "between", "indices", "panels", "launches"),
    )
)
ALWAYS = ("function", "results", "launches")
FLOAT, UNREAD = "float", "unread"
NUMBERS = ("float", "bool")
KINDS = ("real", "operand", "stored")
FIXED = ("f32", "f64")
# Names that the runtime uses begin so, and none of them has an underscore behind it. A plan calls
# what the source calls `dt_x` with one.
OWN = re.compile(r"dt_\w*(?<!_)")
# No axis has more than this, and no size is larger.
LARGEST = 2**63 - 1
MOST_AXES = 64
# What the parameters of a function are called that are neither inputs nor sizes. It takes a device
# only if no tensor says where it runs.
OUT, DEVICE = "out", "device"


def plan_of(literal: ast.expr) -> CallPlan:
    """Return the plan that a literal is. Raises Unread."""
    of = table(datum_of(literal), "a plan")
    check_keys(of, KEYS, ALWAYS, "a plan")
    sizes = _sizes(of)
    inputs = each(of, "inputs", _input)
    results = each(of, "results", result_of)
    if not results:
        raise Unread(of.lines["results"], "a plan without results")
    between = each(of, "between", made_of)
    launches = parts_of(of.entries["launches"], "'launches'", in_list=True)
    plan = CallPlan(
        function=text(of.entries["function"], "'function'"),
        source=each(of, "names", word),
        inputs=inputs,
        sizes=sizes,
        demands=tuple(map(_demand, listed(of, "demands"))),
        types=each(of, "types", _type),
        results=results,
        between=between,
        indices=formulas(of, "indices"),
        launches=tuple(map(launch_of, launches)),
        panels=_panels(of.entries["panels"]) if "panels" in of.entries else None,
        first_line=of.line,
        last_line=literal.end_lineno or of.line,
    )
    _check_names(plan, of)
    _check_words(plan, of)
    return plan


def _input(datum: Datum, what: str) -> GivenInput:
    if isinstance(datum, PlainLiteral):
        kind = text(datum, what)
        if kind == UNREAD:
            return GivenUnread(datum.line)
        if kind in NUMBERS:
            return GivenNumber(kind, (), datum.line)
        raise Unread(datum.line, f"{what} is '{kind}', which no input is")
    parts = parts_of(datum, what)
    match len(parts), text(parts[0], what) if parts else "":
        case 3, "int":
            limits = tuple(whole(one, what, -(2**63)) for one in parts[1:])
            return GivenNumber("int", limits, datum.line)
        case 2, dtype if dtype == FLOAT or dtype in WORDS:
            return GivenTensor(dtype, whole(parts[1], what, 0, MOST_AXES), datum.line)
        case _:
            raise Unread(datum.line, f"{what} is no input")


def _sizes(of: DictLiteral) -> dict[str, LabelSize]:
    """Read what a plan says of the sizes of labels."""
    sizes = each(of, "sizes", lambda datum, _: datum)
    passed = each(of, "passed", texts)
    limits = each(of, "limits", lambda datum, what: whole(datum, what, 0, LARGEST))
    for key, entries in (("passed", passed), ("limits", limits)):
        if unknown := sorted(entries.keys() - sizes.keys()):
            raise Unread(of.lines[key], f"'{key}' of '{unknown[0]}', which has no size")
    found = dict[str, LabelSize]()
    for label, datum in sizes.items():
        formula = None
        if not is_none(datum):
            formula = formula_of(text(datum, f"the size of '{label}'"), datum.line)
        elif passed.get(label) != ():
            raise Unread(datum.line, f"the size of '{label}', which only a call can say")
        instead = passed.get(label, ())
        if unknown := [one for one in instead if one not in sizes or one == label]:
            raise Unread(datum.line, f"'{unknown[0]}', which is passed instead of '{label}'")
        # A size that nothing else says is among those that are passed, and must be.
        may_miss = label in passed and formula is not None
        found[label] = LabelSize(formula, may_miss, instead, limits.get(label), datum.line)
    return found


def _demand(datum: Datum) -> Demand:
    of = table(datum, "a demand")

    def formula(key: str) -> Formula:
        return formula_of(text(of.entries[key], f"'{key}'"), of.entries[key].line)

    def named(key: str) -> str:
        return word(of.entries[key], f"'{key}'")

    match next(iter(of.entries), ""):
        case "shape":
            check_keys(of, frozenset({"shape", "is"}), ("is",), "a demand")
            return ShapeDemand(named("shape"), texts(of.entries["is"], "'is'"), of.line)
        case "size":
            check_keys(of, frozenset({"size", "is", "seen"}), ("is", "seen"), "a demand")
            return SizeDemand(named("size"), formula("is"), of.line)
        case "inside":
            always = ("inside", "axis", "extent", "index")
            keys = frozenset((*always, "low", "high", "where", "sizes"))
            check_keys(of, keys, always, "a demand")
            ends = [formula(key) if key in of.entries else None for key in ("low", "high")]
            if ends == [None, None]:
                raise Unread(of.line, "a demand that an index stays inside, without an index")
            whole(of.entries["axis"], "'axis'", 0, MOST_AXES)
            where = texts(of.entries["where"], "'where'") if "where" in of.entries else ()
            return InsideDemand(formula("extent"), ends[0], ends[1], where, of.line)
        case "reduction":
            check_keys(of, frozenset({"reduction", "over"}), ("over",), "a demand")
            named("reduction")
            return SomeDemand(named("over"), of.line)
        case _:
            raise Unread(of.line, "a demand of an unknown form")


def _type(datum: Datum, what: str) -> KernelType:
    kind, terms = applied(text(datum, what), datum.line)
    if kind in FIXED and not terms:
        return KernelType(kind, None, datum.line)
    if kind in KINDS and terms:
        return KernelType(kind, Dtype(terms, datum.line), datum.line)
    raise Unread(datum.line, f"{what} is '{text(datum, what)}', which is no type of a kernel")


def _panels(datum: Datum) -> InPanels:
    of = table(datum, "'panels'")
    keys = ("labels", "size", "cut")
    check_keys(of, frozenset(keys), keys, "'panels'")
    labels = texts(of.entries["labels"], "'labels'")
    cut = each(of, "cut", lambda axis, what: whole(axis, what, 0, MOST_AXES))
    if not labels:
        raise Unread(of.line, "panels of no label")
    return InPanels(labels, whole(of.entries["size"], "'size'", 1), cut, of.line)


def _check_names(plan: CallPlan, of: DictLiteral) -> None:
    """Refuse two things of one name, and a name that means something else. Raises Unread."""
    groups = (plan.inputs, plan.sizes, plan.results, plan.between)
    scratch = [(one, made.line) for each in plan.launches for one, made in each.scratch.items()]
    # Each launch has memory of its own for its programs, and two may call theirs the same.
    own = dict(scratch)
    is_somewhere = any(isinstance(one, GivenTensor) for one in plan.inputs.values())
    taken = (OUT,) if is_somewhere else (OUT, DEVICE)
    seen = dict[str, int]()
    for name, line in (*((n, of.line) for group in groups for n in group), *own.items()):
        if name in seen:
            raise Unread(line, f"two things are called '{name}'")
        if not name.isascii() or not name.isidentifier() or keyword.iskeyword(name):
            raise Unread(line, f"'{name}', which is no name")
        is_parameter = name in {*plan.inputs, *plan.sizes}
        if OWN.fullmatch(name) or (name in taken and is_parameter):
            raise Unread(line, f"'{name}', which has a meaning of its own in a plan")
        seen[name] = line
    sources = [plan.named(one) for one in seen]
    for name, source in plan.source.items():
        # Python needs another name, and that is the source's with an underscore behind.
        if name not in {*seen, plan.function} or name.rstrip("_") != source.rstrip("_"):
            raise Unread(of.lines["names"], f"'{name}', which is called '{source}'")
    if len({*sources}) != len(sources):
        raise Unread(of.lines["names"], "two things that the source calls the same")


def _check_words(plan: CallPlan, of: DictLiteral) -> None:
    """Read what only messages and refusals need, and no proof. Raises Unread.

    The runtime compiles the formulas in messages, so they must be formulas of known names.
    """
    known = {*plan.inputs, *plan.sizes}
    messages = list[Datum]()
    for label, datum in each(of, "shown", lambda datum, _: datum).items():
        if label not in plan.sizes:
            raise Unread(datum.line, f"'{label}', which has no size to be shown")
        messages.append(datum)
    for demand in listed(of, "demands"):
        entries = table(demand, "a demand").entries
        messages += [entries[key] for key in ("seen", "index", "sizes") if key in entries]
        # It may be a Func that is computed on the way, of which a plan knows nothing else.
        if "inside" in entries and not word(entries["inside"], "'inside'").isidentifier():
            raise Unread(demand.line, "a demand of a tensor without a name")
    for one in messages:
        for formula in formulas_in_braces(text(one, "a text for a message"), one.line):
            if unknown := [name for name in names_in(formula) if name not in known]:
                raise Unread(one.line, f"'{unknown[0]}' in a text for a message")
    for one in listed(of, "meet"):
        _check_terms(Dtype(texts(one, "'meet'"), one.line), plan.inputs)
    for one in listed(of, "adds"):
        parts = [word(part, "'adds'") for part in parts_of(one, "'adds'")]
        if len(parts) != 3:
            raise Unread(one.line, "'adds' of other parts than a Func, a reduction and a dtype")
        _check_terms(dtype_of(parts[2], one.line), plan.inputs)


def _check_terms(dtype: Dtype, inputs: Mapping[str, GivenInput]) -> None:
    if dtype.is_type or not dtype.terms:
        raise Unread(dtype.line, "a dtype that is not one of inputs")
    for one in dtype.terms:
        if not isinstance(inputs.get(one), GivenTensor) and (one in inputs or one not in WORDS):
            raise Unread(dtype.line, f"the dtype '{one}'")

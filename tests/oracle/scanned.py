"""Puts scans into random Programs: a Func also has a scan of inputs or of other Funcs."""

from dataclasses import replace
from random import Random

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Expr,
    Integer,
    Read,
    Reduce,
    Reshape,
    ScanOrder,
)
from dtpoly.algorithm.operations import RECURRENCE
from dtpoly.algorithm.program import (
    Argument,
    Directive,
    Func,
    Label,
    Program,
    Split,
    Tensor,
    scanned_labels,
)
from tests.oracle.algorithms import POOL

REDUCTIONS = ("rsum", "rsum", "rmax", "rmin", "rprod", RECURRENCE)


def with_scans(random: Random, program: Program) -> tuple[Program, dict[str, str]]:
    """Return the Program with scans, and for each label that is scanned the one of its results."""
    funcs: list[Func] = []
    inputs: list[Tensor] = []
    labels: dict[str, str] = {}
    taken = {label.name for label in program.labels}
    for func in program.funcs:
        plain = [label for label in func.labels if label in POOL]
        if not plain or random.random() < 0.35:
            funcs.append(func)
            continue
        body = func.body
        is_reverse = random.random() < 0.35
        for _ in range(1 if random.random() < 0.85 else 2):
            at = random.choice(plain)
            scanned = next((s for s, t in labels.items() if t == at), f"scan_{at}")
            assert scanned not in taken
            labels[scanned] = at
            layout = tuple(sorted(func.labels, key=POOL.index))
            inner = tuple(scanned if label == at else label for label in layout)
            operand = _operand(random, funcs, inputs, layout, inner, at)
            order = ScanOrder(at, random.random() < 0.4, is_reverse)
            word = random.choice(REDUCTIONS)
            if word == RECURRENCE:
                factor = _operand(random, funcs, inputs, layout, inner, at)
                order = replace(order, factor=factor, initial=Integer(0))
            when = order.conditions(scanned)
            scan = Reduce(word, operand, (scanned,), when=when, scan=order)
            body = Apply("mul", (body, scan)) if random.random() < 0.8 else scan
        funcs.append(replace(func, body=body))
    made = replace(
        program,
        labels=(*program.labels, *(Label(name, reducible=True) for name in labels)),
        inputs=(*program.inputs, *inputs),
        funcs=tuple(funcs),
    )
    return made, labels


def with_names_of_parts(random: Random, program: Program) -> Program:
    """Return a scheduled Program with names for some parts of scans, and with loops over these."""
    directives: list[Directive] = []
    for one in program.directives:
        along = scanned_labels(program.func(one.func)) if one.name == "block" else ()
        arguments = list(one.arguments)
        for at, argument in enumerate(arguments):
            if argument.target not in along or random.random() < 0.3:
                continue
            name, size = f"{argument.target}p", argument.value
            assert isinstance(size, int)
            arguments[at] = replace(argument, value=Split(name, size))
            if random.random() < 0.5:
                tile = Argument(name, random.choice((0, 1, 2)))
                directives.append(Directive(one.func, "tensorize", (tile,)))
        directives.append(replace(one, arguments=tuple(arguments)))
    return replace(program, directives=tuple(directives))


def _operand(
    random: Random,
    before: list[Func],
    inputs: list[Tensor],
    layout: tuple[str, ...],
    inner: tuple[str, ...],
    at: str,
) -> Expr:
    """Return a read of an input or of an earlier Func at the label that is scanned."""
    read = [func for func in before if at in func.labels and set(func.labels) <= set(layout)]
    place = dict(zip(layout, inner, strict=True))
    if read and random.random() < 0.6:
        chosen = random.choice(read)
        name, own = chosen.name, chosen.labels
    else:
        name = f"Z{len(inputs)}"
        inputs.append(Tensor(name))
        own = tuple(label for label in layout if label == at or random.random() < 0.7)
    one = Read(name, tuple(Affine(((place[label], 1),)) for label in own))
    if own == layout:
        return one
    return Reshape(one, tuple(place[label] if label in own else None for label in layout))

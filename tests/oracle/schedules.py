"""Adds random directives to a Program."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from dtpoly.algorithm.expressions import Dot, Reduce
from dtpoly.algorithm.program import Argument, Directive, Func, Program, Split, reduced_labels
from tests.oracle.kernels import plan
from tests.oracle.said import Unclear


def scheduled(random: Random, program: Program) -> Program:
    """Return the Program with any directives, sensible or not, and any primitives."""
    readers = {
        func.name: [r for r in program.funcs if f"tensor='{func.name}'" in repr(r.body)]
        for func in program.funcs
    }
    directives: list[Directive] = []
    for func in program.funcs:
        name = func.name
        if not readers[name] or random.random() < 0.05:
            directives.append(Directive(name, "compile"))
        elif not reduced_labels(func) and random.random() < 0.12:
            directives.append(Directive(name, "inline"))
        elif random.random() < 0.95:
            directives.extend(_fusion(random, func, readers[name]))
            if len(readers[name]) > 1 and random.random() < 0.1:
                # The Func may be fused into another kernel as well.
                directives.extend(_fusion(random, func, readers[name]))
    placed = replace(program, directives=tuple(directives))
    try:
        known = plan(placed)
    except Unclear:
        return replace(program, directives=(Directive("f0", "none"),))
    for host, fusions in known.fused.items():
        members = [program.func(name) for name in (host, *(f.func for f in fusions))]
        directives.extend(_loops(random, members))
    random.shuffle(directives)
    return replace(program, directives=tuple(directives))


def sensible(random: Random, program: Program) -> Program:
    """Return the Program with sensible directives, of the kinds that the thesis has.

    A Func is fused at the outermost loop of its last reader, if it has that label itself.
    """
    directives: list[Directive] = []
    for func in program.funcs:
        readers = [r for r in program.funcs if f"tensor='{func.name}'" in repr(r.body)]
        outer = [v for reader in readers[-1:] for v in reader.labels[:1] if v in func.labels]
        if not readers:
            directives.append(Directive(func.name, "compile"))
        elif not reduced_labels(func) and random.random() < 0.15:
            directives.append(Directive(func.name, "inline"))
        elif outer and random.random() < 0.8:
            arguments = (Argument(readers[-1].name), Argument(outer[0]))
            directives.append(Directive(func.name, "fuse_at", arguments))
    placed = replace(program, directives=tuple(directives))
    for host, fusions in plan(placed).fused.items():
        members = [program.func(name) for name in (host, *(f.func for f in fusions))]
        directives.extend(_sensible_loops(random, members))
    return replace(program, directives=tuple(directives))


def _sensible_loops(random: Random, members: list[Func]) -> Iterator[Directive]:
    """Yield blocks of the first labels, lanes along others, and seldom a reduction in parts."""
    host = members[0]
    labels = list(dict.fromkeys(v for f in members for v in (*f.labels, *reduced_labels(f))))
    blocks = [Argument(v, random.choice((2, 4))) for v in host.labels if random.random() < 0.5]
    bound = [v for v in dict.fromkeys(reduced_labels(host)) if v not in host.labels]
    if len(members) == 1 and bound and random.random() < 0.2:
        blocks.append(Argument(bound[0], 2))
    tiles = [Argument(v, random.choice((0, 0, 2))) for v in labels if random.random() < 0.6]
    if blocks:
        yield Directive(host.name, "block", tuple(blocks))
    if tiles:
        yield Directive(host.name, "tensorize", tuple(tiles))
    if blocks and random.random() < 0.2:
        yield Directive(host.name, "map", tuple(_numbering(random, blocks)))
    if host.labels and random.random() < 0.2:
        yield Directive(host.name, "unroll", (Argument(host.labels[-1], 2),))
    yield Directive(host.name, "num_warps", (Argument(4),))


def _fusion(random: Random, func: Func, readers: list[Func]) -> list[Directive]:
    # With several readers, a fusion into the last one has the best chance to be around all reads.
    consumer = readers[-1] if random.random() < 0.6 else random.choice(readers)
    loops = (*consumer.labels, *reduced_labels(consumer))
    if not loops:
        return []
    # A fusion at an outer loop is legal more often.
    loop = loops[0] if random.random() < 0.55 else random.choice(loops)
    if random.random() < 0.06:
        loop = f"{loop}i"
    again = (Argument("recompute"),) if random.random() < 0.15 else ()
    return [Directive(func.name, "fuse_at", (Argument(consumer.name), Argument(loop), *again))]


def _loops(random: Random, members: list[Func]) -> list[Directive]:
    """Return directives on the Func of a kernel, which is the first of its members."""
    host = members[0]
    directives: list[Directive] = []
    own = list(dict.fromkeys((*host.labels, *reduced_labels(host))))
    labels = list(dict.fromkeys(v for f in members for v in (*f.labels, *reduced_labels(f))))
    blocks: list[Argument] = []
    for label in own:
        if label in host.labels and random.random() < 0.45:
            blocks.append(Argument(label, random.choice((1, 2, 2, 3, 4))))
        elif label not in host.labels and random.random() < 0.25:
            named = Split(f"{label}b", 2) if random.random() < 0.3 else 2
            blocks.append(Argument(label, named))
    splits = [
        Argument(label, Split(f"{label}i", random.choice((2, 2, 3))))
        for label in labels
        if random.random() < 0.12
    ]
    if splits and random.random() < 0.15:
        splits.append(Argument(f"{splits[0].target}i", Split(f"{splits[0].target}j", 2)))
    loops = [*labels, *(s.value.name for s in splits if isinstance(s.value, Split))]
    tiles = [
        Argument(label, random.choice((0, 1, 2, 2, 4))) for label in loops if random.random() < 0.35
    ]
    for func in members[1:]:
        for label in (*func.labels, *dict.fromkeys(reduced_labels(func))):
            if random.random() < 0.06:
                tiles.append(Argument(f"{func.name}.{label}", random.choice((0, 1, 2))))
    if blocks:
        directives.append(Directive(host.name, "block", tuple(blocks)))
    if splits:
        directives.append(Directive(host.name, "split", tuple(splits)))
    if tiles:
        directives.append(Directive(host.name, "tensorize", tuple(tiles)))
    if len(loops) > 1 and random.random() < 0.25:
        order = random.sample(loops, random.randint(2, len(loops)))
        directives.append(Directive(host.name, "reorder", tuple(map(Argument, order))))
    if loops and random.random() < 0.05:
        directives.append(Directive(host.name, "unroll", (Argument(random.choice(loops), 2),)))
    if blocks and random.random() < 0.15:
        directives.append(Directive(host.name, "map", tuple(_numbering(random, blocks))))
    partial = [b.target for b in blocks if b.target not in host.labels]
    if partial and isinstance(host.body, Reduce | Dot) and random.random() < 0.5:
        directives.append(Directive(host.name, "atomic", tuple(map(Argument, partial))))
    if random.random() < 0.2:
        cut = {str(item.target) for item in (*blocks, *splits)}
        whole = [label for label in own if label not in cut]
        wrong = [name for name, fits in (("flatten", not tiles), ("forget", not splits)) if fits]
        directives.extend(_rewrites(random, host, labels, loops, whole, wrong))
    return directives


def _numbering(random: Random, blocks: list[Argument]) -> Iterator[Argument]:
    """Yield blocks in any order, some in groups."""
    order = random.sample([str(block.target) for block in blocks], len(blocks))
    groups = [label for label in order if random.random() < 0.4]
    for label in order:
        factor = random.choice((1, 2, 3))
        yield Argument(label, Split(f"{label}g", factor)) if label in groups else Argument(label)
    for label in random.sample(groups, len(groups)):
        yield Argument(f"{label}g")


def _rewrites(
    random: Random,
    host: Func,
    labels: list[str],
    loops: list[str],
    whole: list[str],
    wrong: list[str],
) -> Iterator[Directive]:
    """Yield users' primitives; `whole` are labels of the Func's own that nothing has cut.

    The `wrong` primitives leave out statements that others need, if there are such statements.
    """
    choices = [Directive(host.name, name) for name in ("upside_down", *wrong)]
    for name in ("interchange", "backwards", "distribute"):
        if loops:
            choices.append(Directive(host.name, name, (Argument(random.choice(loops)),)))
    for size in random.sample((1, 2, 3), 2 if labels else 0):
        argument = Argument(random.choice(labels), size)
        choices.extend([Directive(host.name, "spread", (argument,))] * 2)
    if len(whole) > 1:
        pair = tuple(map(Argument, random.sample(whole, 2)))
        choices.extend(Directive(host.name, name, pair) for name in ("skew", "lean"))
    if whole:
        short = Argument(random.choice(whole), random.choice((1, 2, 4)))
        choices.append(Directive(host.name, "shorten", (short,)))
    chosen = random.sample(choices, random.choice((1, 1, 2)))
    # After a wrong primitive, others find no tree to work on.
    alone = [one for one in chosen if one.name in ("flatten", "forget", "shorten")]
    yield from alone[:1] or chosen


def returning(random: Random, program: Program) -> Program:
    """Return a scheduled Program some of whose functions have several results.

    Most of these are fused already. Others had a function of their own, and are fused now.
    """
    compiled = [one for one in program.directives if one.name == "compile"]
    asking = random.choice(compiled)
    fused = [one.func for one in program.directives if one.name == "fuse_at"]
    ours = [func.name for func in program.funcs if func.name != asking.func]
    results = [name for name in ours if random.random() < (0.6 if name in fused else 0.15)]
    gone = [one for one in compiled if one.func in results and random.random() < 0.8]
    moved = [
        fusion
        for one in gone
        for fusion in _fusion(random, program.func(one.func), [program.func(asking.func)])
    ]
    random.shuffle(results)
    changed = [
        replace(one, arguments=tuple(map(Argument, results))) if one is asking else one
        for one in program.directives
        if one not in gone
    ]
    directives = [*changed, *moved]
    random.shuffle(directives)
    return replace(program, directives=tuple(directives))

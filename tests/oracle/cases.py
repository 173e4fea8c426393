"""A seed in; a small scheduled Program and sizes out, for comparing legality checks.

About half of the cases are legal. All pass the checks that come before legality, and their sizes
are those of some tensors. `python -m tests.oracle.cases 2000` prints how the verdicts are spread.
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from random import Random

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Dot,
    Expr,
    Index,
    Integer,
    Read,
    Reduce,
    Reshape,
)
from dtpoly.algorithm.program import (
    Argument,
    Directive,
    Func,
    Label,
    Program,
    Split,
    Tensor,
    reduced_labels,
)
from dtpoly.diagnostics import has_errors
from dtpoly.schedule.check import check_schedule
from tests.oracle.kernels import Unclear, plan
from tests.oracle.run import Illegal, Verdict, judge_schedule

# Labels stand in this order in every layout. `w` is one shorter than `x`, for stencils.
POOL = ("x", "y", "k", "l", "w")
REDUCTIONS = ("rsum", "rmax", "rmin", "rprod")
SIZES = (0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6)


@dataclass(frozen=True, slots=True)
class Case:
    """A scheduled Program at some sizes."""

    program: Program
    sizes: dict[str, int]


def case(seed: int) -> Case:
    """The case of a seed."""
    for attempt in range(1000):
        random = Random(f"{seed} {attempt}")
        algorithm = _Algorithm(random)
        program = _scheduled(random, algorithm.program())
        # Without a fusion every schedule is legal.
        is_dull = all(directive.name != "fuse_at" for directive in program.directives)
        if is_dull and random.random() < 0.7:
            continue
        if has_errors(check_schedule(program)):
            continue
        sizes = algorithm.sizes()
        return Case(program, {label.name: sizes[label.name] for label in program.labels})
    raise AssertionError(seed)


class _Algorithm:
    """Makes Funcs, each of which reads earlier ones."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.funcs: list[Func] = []
        self.inputs: list[Tensor] = []
        self.has_stencil = random.random() < 0.15
        count = random.choice((2, 3, 3, 4))
        self.pool = POOL[:count] if not self.has_stencil else (*POOL[:count], "w")
        # Labels of one class have one size.
        self.kind = {"x": "x", "y": "y", "k": "k", "l": "l", "w": "w"}
        if random.random() < 0.4:
            self.kind["y"] = "x"
        if random.random() < 0.3:
            self.kind["k"] = "x"

    def sizes(self) -> dict[str, int]:
        chosen = {kind: self.random.choice(SIZES) for kind in POOL}
        chosen["w"] = max(chosen["x"] - 1, 0)
        return {label: chosen[self.kind[label]] for label in POOL}

    def program(self) -> Program:
        unread: list[Func] = []
        for at in range(self.random.choice((2, 2, 3, 3, 3, 4))):
            # What nobody reads yet first, so that the Funcs hang together.
            older = [func for func in self.funcs if func not in unread]
            read = list(unread[-2:])
            if older and self.random.random() < 0.4:
                read.append(self.random.choice(older))
            func = self.func(f"f{at}", read)
            unread = [*(other for other in unread if other not in read), func]
            self.funcs.append(func)
        nodes = "".join(map(repr, self.funcs))
        used = [v for v in self.pool if f"'{v}'" in nodes]
        return Program(
            tuple(Label(v, reducible=True) for v in used), tuple(self.inputs), tuple(self.funcs)
        )

    def func(self, name: str, read: list[Func]) -> Func:
        random = self.random
        rank = min(random.choice((0, 1, 1, 2, 2, 2, 2, 3)), len(self.pool))
        labels = random.sample(self.pool, rank)
        if random.random() < 0.75:
            labels.sort(key=POOL.index)
        layout = tuple(sorted(labels, key=POOL.index))
        parts = [self.part(layout, func) for func in read]
        if not parts or random.random() < 0.3:
            parts.append(self.part(layout, None))
        if layout and random.random() < 0.05:
            parts.append(Index(random.choice(layout)))
        return Func(name, tuple(labels), _product(parts))

    def part(self, layout: tuple[str, ...], func: Func | None) -> Expr:
        """A factor that reads a Func, or an input alone."""
        random = self.random
        wanted = () if func is None else func.labels
        missing = [
            label
            for label in wanted
            if not any(self.kind[label] == self.kind[v] for v in layout)
            and not (label == "x" and "w" in layout)
        ]
        bound = [*missing]
        if not bound and random.random() < (0.6 if func is None else 0.25):
            bound = [v for v in self.pool if v not in layout][:1]
        if not bound:
            return self.read(layout, func)
        inner = tuple(sorted({*layout, *bound}, key=POOL.index))
        labels = tuple(dict.fromkeys(bound))
        if random.random() < 0.4:
            return Dot(self.over(inner, func, labels), self.over(inner, None, labels), labels)
        operand = self.over(inner, func, labels)
        deeper = [v for v in self.pool if v not in inner]
        if deeper and random.random() < 0.15:
            last = (deeper[0],)
            below = tuple(sorted({*inner, *last}, key=POOL.index))
            operand = _product([operand, Reduce("rsum", self.over(below, None, last), last)])
        return Reduce(random.choice(REDUCTIONS), operand, labels)

    def over(self, layout: tuple[str, ...], func: Func | None, labels: tuple[str, ...]) -> Expr:
        """A read that has these labels, with the help of an input if need be."""
        found = self.read(layout, func, labels)
        if all(f"'{label}'" in repr(found) for label in labels):
            return found
        return _product([found, self.read(layout, None, layout)])

    def read(
        self, layout: tuple[str, ...], func: Func | None, favoured: tuple[str, ...] = ()
    ) -> Expr:
        random = self.random
        if func is None:
            name = f"A{len(self.inputs)}"
            self.inputs.append(Tensor(name))
            chosen = [v for v in layout if v in favoured or random.random() < 0.7]
            return _laid_out(Read(name, tuple(Affine(((v, 1),)) for v in chosen)), layout)
        if "w" in layout and "x" in func.labels and "x" not in layout:
            first, second = (self.element(layout, func, favoured, shift) for shift in (0, 1))
            return _product([_laid_out(first, layout), _laid_out(second, layout)])
        return _laid_out(self.element(layout, func, favoured, 0), layout)

    def element(
        self, layout: tuple[str, ...], func: Func, favoured: tuple[str, ...], shift: int
    ) -> Read:
        random = self.random
        indices: list[Affine] = []
        is_padded = False
        for label in func.labels:
            alike = [v for v in layout if self.kind[v] == self.kind[label]]
            if not alike:
                indices.append(Affine((("w", 1),), shift))
                continue
            best = [v for v in alike if v == label] or [v for v in alike if v in favoured] or alike
            index = Affine(((best[0] if random.random() < 0.85 else random.choice(alike), 1),))
            if random.random() < 0.08:
                index = index + Affine((), random.choice((-1, 1, 2)))
                is_padded = True
            elif len(layout) > 1 and random.random() < 0.03:
                index = index + Affine(((random.choice(layout), 1),))
                is_padded = True
            indices.append(index)
        plain = [index.plain for index in indices]
        order = [POOL.index(label) for label in plain if label is not None]
        if not is_padded and None not in plain and order != sorted(set(order)):
            # Only a read with an affine index lines up by name.
            indices[0] = indices[0] + Affine((), 1)
            is_padded = True
        return Read(func.name, tuple(indices), Integer(0) if is_padded else None)


def _product(parts: list[Expr]) -> Expr:
    total = parts[0]
    for part in parts[1:]:
        total = Apply("mul", (total, part))
    return total


def _laid_out(read: Read, layout: tuple[str, ...]) -> Expr:
    """A read with its labels where the layout has them; an affine one needs no help."""
    labels = tuple(index.plain for index in read.indices)
    if labels == layout or None in labels or not labels:
        return read
    if len(set(labels)) != len(labels):
        return read
    return Reshape(read, tuple(v if v in labels else None for v in layout))


def _scheduled(random: Random, program: Program) -> Program:
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


def _fusion(random: Random, func: Func, readers: list[Func]) -> list[Directive]:
    # With several readers a fusion into the last one has the best chance to be around all.
    consumer = readers[-1] if random.random() < 0.6 else random.choice(readers)
    loops = (*consumer.labels, *reduced_labels(consumer))
    if not loops:
        return []
    # Outer loops are legal more often.
    loop = loops[0] if random.random() < 0.2 else random.choice(loops)
    if random.random() < 0.06:
        loop = f"{loop}i"
    again = (Argument("recompute"),) if random.random() < 0.1 else ()
    return [Directive(func.name, "fuse_at", (Argument(consumer.name), Argument(loop), *again))]


def _loops(random: Random, members: list[Func]) -> list[Directive]:
    """Directives on the Func of a kernel, the first of its members."""
    host = members[0]
    directives: list[Directive] = []
    own = list(dict.fromkeys((*host.labels, *reduced_labels(host))))
    labels = list(dict.fromkeys(v for f in members for v in (*f.labels, *reduced_labels(f))))
    blocks: list[Argument] = []
    for label in own:
        if label in host.labels and random.random() < 0.45:
            blocks.append(Argument(label, random.choice((1, 2, 2, 3, 4))))
        elif label not in host.labels and _reductions(host.body) == 1 and random.random() < 0.3:
            named = Split(f"{label}b", 2) if random.random() < 0.3 else 2
            blocks.append(Argument(label, named))
    splits = [
        Argument(label, Split(f"{label}i", random.choice((2, 2, 3))))
        for label in labels
        if random.random() < 0.12
    ]
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
    if len(loops) > 1 and random.random() < 0.3:
        order = random.sample(loops, random.randint(2, len(loops)))
        directives.append(Directive(host.name, "reorder", tuple(map(Argument, order))))
    if loops and random.random() < 0.05:
        directives.append(Directive(host.name, "unroll", (Argument(random.choice(loops), 2),)))
    if blocks and random.random() < 0.1:
        order = random.sample([str(b.target) for b in blocks], len(blocks))
        directives.append(Directive(host.name, "map", tuple(map(Argument, order))))
    partial = [b.target for b in blocks if b.target not in host.labels]
    if partial and isinstance(host.body, Reduce | Dot) and random.random() < 0.5:
        directives.append(Directive(host.name, "atomic", tuple(map(Argument, partial))))
    return directives


def _reductions(body: Expr) -> int:
    text = repr(body)
    return text.count("Reduce(") + text.count("Dot(")


def verdicts(count: int) -> Counter[str]:
    """How often each verdict comes up among the first cases."""
    found: Counter[str] = Counter()
    for seed in range(count):
        chosen = case(seed)
        found[_name(judge_schedule(chosen.program, chosen.sizes))] += 1
    return found


def _name(verdict: Verdict) -> str:
    return verdict.kind if isinstance(verdict, Illegal) else "legal"


if __name__ == "__main__":
    start = time.perf_counter()
    for kind, number in verdicts(int(sys.argv[1])).most_common():
        print(f"{number:6} {kind}")
    print(f"{time.perf_counter() - start:.1f} s")

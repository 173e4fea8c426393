"""Makes random Programs without directives, and sizes for them."""

from dataclasses import replace
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
    map_children,
)
from dtpoly.algorithm.program import Func, Into, Label, Program, Tensor

# Every layout has its labels in this order. `w` is one shorter than `x`, for stencils.
POOL: tuple[str, ...] = ("x", "y", "k", "l", "w")
REDUCTIONS = ("rsum", "rmax", "rmin", "rprod")
SIZES = (0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6)


class Algorithm:
    """Makes Funcs, each of which reads earlier ones.

    They read any earlier Funcs, or have a fixed shape, such as a chain. Plain Funcs read at labels
    only, and at the next element in a stencil.
    """

    def __init__(self, random: Random, is_plain: bool = False) -> None:
        self.random, self.is_plain = random, is_plain
        self.funcs: list[Func] = []
        self.inputs: list[Tensor] = []
        self.has_stencil = random.random() < 0.15
        count = random.choice((2, 3, 3, 4))
        self.pool = POOL[:count] if not self.has_stencil else (*POOL[:count], "w")
        # The labels of one class have the same size.
        self.kind = {"x": "x", "y": "y", "k": "k", "l": "l", "w": "w"}
        if random.random() < 0.4:
            self.kind["y"] = "x"
        if random.random() < 0.3:
            self.kind["k"] = "x"

    def sizes(self) -> dict[str, int]:
        chosen = {kind: self.random.choice(SIZES) for kind in POOL}
        if self.has_stencil:
            # Some reads need an x even where there is no w.
            chosen["x"] = max(chosen["x"], 1)
            chosen["w"] = chosen["x"] - 1
        return {label: chosen[self.kind[label]] for label in POOL}

    def program(self, *, in_place: bool = False) -> Program:
        shape = self.random.choices((self.mixed, self.chain, self.diamond, self.fan), (12, 3, 3, 2))
        shape[0]()
        if in_place:
            self.put_in_place(self.random.choice(self.funcs).name)
            while len(self.funcs) > 1 and self.random.random() < 0.25:
                free = [func.name for func in self.funcs if func.into is None]
                if not free:
                    break
                self.put_in_place(self.random.choice(free))
        nodes = "".join(map(repr, self.funcs))
        used = [v for v in self.pool if f"'{v}'" in nodes]
        return Program(
            tuple(Label(v, reducible=True) for v in used), tuple(self.inputs), tuple(self.funcs)
        )

    def mixed(self) -> None:
        """Let each Func read some earlier ones, first those that nothing reads yet."""
        unread: list[Func] = []
        for _ in range(self.random.choice((2, 2, 3, 3, 3, 4))):
            older = [func for func in self.funcs if func not in unread]
            read = list(unread[-2:])
            if older and self.random.random() < 0.4:
                read.append(self.random.choice(older))
            func = self.add(read, self.labels())
            unread = [*(other for other in unread if other not in read), func]

    def chain(self) -> None:
        """Let each Func read the one before, mostly over the same labels."""
        labels = self.labels()
        for _ in range(self.random.choice((4, 5, 5, 6))):
            self.add(self.funcs[-1:], self.near(labels))

    def diamond(self) -> None:
        """Let two or three Funcs read one, and another Func read these, perhaps also the one."""
        labels = self.labels()
        top = self.add([], self.near(labels))
        sides = [self.add([top], self.near(labels)) for _ in range(self.random.choice((2, 2, 3)))]
        both = [*sides, top] if self.random.random() < 0.3 else sides
        self.add(both, self.near(labels))

    def fan(self) -> None:
        """Let one Func read several that do not read each other."""
        labels = self.labels()
        producers = [self.add([], self.near(labels)) for _ in range(self.random.choice((2, 3, 3)))]
        self.add(producers, self.near(labels))

    def add(self, read: list[Func], labels: list[str]) -> Func:
        func = self.func(f"f{len(self.funcs)}", read, labels)
        self.funcs.append(func)
        return func

    def put_in_place(self, name: str) -> None:
        """Let a Func replace the elements of an input, which some Funcs read."""
        random, tensor = self.random, f"{name.upper()}_old"
        written = next(func for func in self.funcs if func.name == name)
        readers = {func.name for func in self.funcs if random.random() < 0.4}
        if random.random() < 0.6:
            readers.add(name)
        for at, func in enumerate(self.funcs):
            if func.name in readers:
                layout = tuple(sorted(func.labels, key=POOL.index))
                body = _product([func.body, self.part(layout, written)])
                func = replace(func, body=_renamed(body, name, tensor, func.body))
            if func.name == name:
                func = replace(func, into=Into(tensor))
            self.funcs[at] = func
        self.inputs.append(Tensor(tensor))

    def labels(self) -> list[str]:
        random = self.random
        rank = min(random.choice((0, 1, 1, 2, 2, 2, 2, 3)), len(self.pool))
        labels = random.sample(self.pool, rank)
        if self.is_plain or random.random() < 0.75:
            labels.sort(key=POOL.index)
        return labels

    def near(self, labels: list[str]) -> list[str]:
        return labels if self.random.random() < 0.75 else self.labels()

    def func(self, name: str, read: list[Func], labels: list[str]) -> Func:
        random = self.random
        layout = tuple(sorted(labels, key=POOL.index))
        parts = [self.part(layout, func) for func in read]
        if not parts or random.random() < 0.3:
            parts.append(self.part(layout, None))
        if layout and random.random() < 0.05:
            parts.append(Index(random.choice(layout)))
        return Func(name, tuple(labels), _product(parts))

    def part(self, layout: tuple[str, ...], func: Func | None) -> Expr:
        """Return a factor that reads a Func, or only an input."""
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
        """Return a read that has these labels, multiplied by an input if necessary."""
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
            pair = [self.element(layout, func, favoured, shift) for shift in (0, 1)]
            if any(read.padding for read in pair):
                # A read without padding would mean that w is as large as x.
                pair = _through_pad(pair, func)
            return _product([_laid_out(read, layout) for read in pair])
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
            if self.is_plain:
                pass
            elif random.random() < 0.08:
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


def _through_pad(pair: list[Read], func: Func) -> list[Read]:
    """Return the two reads of a stencil through `pad`.

    No index of them is w alone on an axis of x: a label alone decides how large the axis is, with
    `pad` and without, and w is one shorter.
    """
    for axis, label in enumerate(func.labels):
        if label != "w" and any(read.indices[axis].plain == "w" for read in pair):
            pair = [_one_further(read, axis) for read in pair]
    return [replace(read, padding=Integer(0)) for read in pair]


def _one_further(read: Read, axis: int) -> Read:
    indices = list(read.indices)
    indices[axis] = indices[axis] + Affine((), 1)
    return replace(read, indices=tuple(indices))


def _product(parts: list[Expr]) -> Expr:
    total = parts[0]
    for part in parts[1:]:
        total = Apply("mul", (total, part))
    return total


def _renamed(body: Expr, name: str, tensor: str, kept: Expr) -> Expr:
    """Return the expression with reads of another tensor, but for a part that stays."""
    if body is kept:
        return body
    body = map_children(body, lambda child: _renamed(child, name, tensor, kept))
    if isinstance(body, Read) and body.tensor == name:
        return replace(body, tensor=tensor)
    return body


def _laid_out(read: Read, layout: tuple[str, ...]) -> Expr:
    """Return a read with its labels in the order of the layout; an affine read needs no change."""
    labels = tuple(index.plain for index in read.indices)
    if labels == layout or None in labels or not labels:
        return read
    if len(set(labels)) != len(labels):
        return read
    return Reshape(read, tuple(v if v in labels else None for v in layout))

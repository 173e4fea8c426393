"""A random schedule for an algorithm, as .dt text: what users write first, and all directives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from dtpoly.algorithm.expressions import Dot, reads, walk
from dtpoly.algorithm.program import Func, Program, producers, reduced_labels

# Most are powers of two, as people write them.
BLOCKS = (1, 1, 2, 4, 8, 8, 16, 16, 32, 64, 128, 3, 5, 7, 12, 100)
PRODUCT_BLOCKS = (16, 16, 32, 32, 64, 128, 8, 256, 48)
PARTS = (8, 16, 32, 64, 128, 256, 1024, 3, 100)
TILES = (0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 512, 1024)
# How often it says each of the directives that few write.
SELDOM = 0.07


def schedule(random: Random, program: Program) -> str:
    """Directives for the last Func, all that it needs, and sometimes for others."""
    if not program.funcs or random.random() < 0.03:
        return "".join(f"{func.name}.compile();\n" for func in program.funcs[-1:])
    return _Writer(random, program).text()


@dataclass
class _Kernel:
    """The state of a kernel while its directives are chosen."""

    func: Func
    labels: tuple[str, ...]  # on the left
    reduced: tuple[str, ...]
    fused: list[Func] = field(default_factory=list[Func])
    blocks: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def loops(self) -> tuple[str, ...]:
        """Return labels of all that it computes."""
        more = (v for f in self.fused for v in (*f.labels, *reduced_labels(f)))
        return tuple(dict.fromkeys((*self.labels, *self.reduced, *more)))


@dataclass
class _Writer:
    random: Random
    program: Program
    lines: list[str] = field(default_factory=list[str])

    def text(self) -> str:
        random, program = self.random, self.program
        below = producers(program)
        kernels: dict[str, _Kernel] = {}
        readers: dict[str, list[str]] = {func.name: [] for func in program.funcs}
        for name, read in below.items():
            for one in read:
                readers[one].append(name)
        into: dict[str, str] = {}
        for func in reversed(program.funcs):
            used = readers[func.name]
            owners = {into.get(one, one) for one in used}
            roll = random.random()
            if used and len(owners) == 1 and roll < 0.5:
                owner = next(iter(owners))
                kernel = kernels[owner]
                places = (*kernel.blocks, *kernel.blocks, *kernel.labels, *kernel.reduced)
                if places:
                    also = ", recompute" if random.random() < 0.25 else ""
                    self.say(func.name, "fuse_at", owner, random.choice(places) + also)
                    kernel.fused.append(func)
                    into[func.name] = owner
                    continue
            if used and roll < 0.57:
                self.say(func.name, "inline")
                into[func.name] = next(iter(owners))
                continue
            kernel = kernels[func.name] = _Kernel(func, func.labels, _only_reduced(func))
            self.block(kernel)
        for kernel in kernels.values():
            self.finish(kernel, [one for one in kernels if one != kernel.func.name])
        ends = [func for func in program.funcs if not readers[func.name]]
        for func in ends or program.funcs[-1:]:
            self.say(func.name, "compile")
        random.shuffle(self.lines)
        return "\n".join((*self.lines, ""))

    def say(self, func: str, directive: str, *arguments: str) -> None:
        self.lines.append(f"{func}.{directive}({', '.join(arguments)});")

    def block(self, kernel: _Kernel) -> None:
        random, name = self.random, kernel.func.name
        sizes = PRODUCT_BLOCKS if _multiplies(kernel.func) else BLOCKS
        for label in kernel.labels:
            if random.random() < 0.75:
                kernel.blocks[label] = random.choice(sizes)
        if kernel.blocks:
            self.say(name, "block", *(f"{v}:{n}" for v, n in kernel.blocks.items()))
        if kernel.reduced and random.random() < 0.2:
            label = random.choice(kernel.reduced)
            size = random.choice(PARTS)
            part = f"{label}b/{size}" if random.random() < 0.2 else str(size)
            self.say(name, "block", f"{label}:{part}")
            if random.random() < 0.4:
                self.say(name, "atomic", label)

    def finish(self, kernel: _Kernel, others: list[str]) -> None:
        random, name = self.random, kernel.func.name
        tiles: list[str] = []
        for label in kernel.loops:
            if random.random() < 0.7:
                fits = [n for n in TILES if n <= kernel.blocks.get(label, 4096)]
                tiles.append(f"{label}:{random.choice(fits)}")
        if tiles:
            self.say(name, "tensorize", *tiles)
        if len(kernel.blocks) > 1 and random.random() < 0.3:
            order = random.sample([*kernel.blocks], len(kernel.blocks))
            if random.random() < 0.5:
                inner = f"{order[0]}i"
                self.say(
                    name, "map", f"{order[0]}:{inner}/{random.choice((2, 3, 8))}", *order[1:], inner
                )
            else:
                self.say(name, "map", *order)
        if random.random() < 0.35:
            self.say(name, "num_warps", str(random.choice((1, 2, 4, 8, 16))))
        if random.random() < 0.35:
            self.say(name, "num_stages", str(random.choice((1, 2, 3, 4))))
        for one in _seldom(self, kernel, others):
            if random.random() < SELDOM:
                one()


def _seldom(w: _Writer, kernel: _Kernel, others: list[str]) -> list[Callable[[], None]]:
    """Return the other directives, each with arguments that may be right."""
    random, name, loops = w.random, kernel.func.name, kernel.loops
    tensors = list(
        dict.fromkeys(r.tensor for f in (kernel.func, *kernel.fused) for r in reads(f.body))
    )
    inputs = [one for one in tensors if w.program.find_func(one) is None]
    number = random.choice
    found: list[Callable[[], None]] = [
        lambda: w.say(name, "early"),
        lambda: w.say(name, "pitch"),
        lambda: w.say(name, "swap"),
        lambda: w.say(name, "precision", number(("tf32", "tf32x3", "ieee"))),
        lambda: w.say(name, "persistent", *number(((), ("2",)))),
        lambda: w.say(name, "warp_specialize"),
    ]
    if loops:
        label = random.choice(loops)
        found += [
            lambda: w.say(name, "split", f"{label}:{label}q/{number((2, 3, 4, 8, 16))}"),
            lambda: w.say(name, "unroll", f"{label}:{number((2, 3, 4))}"),
            lambda: w.say(name, "alternate", label),
        ]
    if len(loops) > 1:
        found += [
            lambda: w.say(name, "reorder", *random.sample(loops, random.randint(2, len(loops)))),
            lambda: w.say(name, "flatten", *random.sample(loops, 2)),
        ]
    if inputs:
        found += [
            lambda: w.say(name, "align", number(inputs)),
            lambda: w.say(name, "stream", number(inputs)),
            lambda: w.say(
                name, "descriptor", *random.sample(inputs, random.randint(1, len(inputs)))
            ),
        ]
    if kernel.labels:
        found += [
            lambda: w.say(name, "panels", f"{number(kernel.labels)}:{number((64, 256, 2048))}"),
            lambda: w.say(name, "store", f"{number(kernel.labels)}:{number((16, 64))}"),
        ]
    if others:
        found.append(lambda: w.say(name, "beside", number(others)))
    return found


def _only_reduced(func: Func) -> tuple[str, ...]:
    return tuple(label for label in reduced_labels(func) if label not in func.labels)


def _multiplies(func: Func) -> bool:
    return any(isinstance(node, Dot) for node in walk(func.body))

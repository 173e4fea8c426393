"""Makes random Programs and schedules them as an expert would.

Products of matrices in tiles for tensor cores, reductions in parts or atomic, maps whose blocks are
walked in groups: at sizes that no block and no group divides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.static_checks import check_schedule
from tests.schedule.told import read

# The interpreter takes a millisecond for each step of a loop.
MOST_STEPS = 100
ATOMIC = ("rsum", "rmax", "rmin")


@dataclass(slots=True)
class Draft:
    """A file that is being written, and what is known about its labels."""

    random: Random
    host: str
    algorithm: str
    labels: dict[str, tuple[int, ...]]  # the sizes to choose from
    tiles: dict[str, int] = field(default_factory=dict[str, int])
    blocks: dict[str, int] = field(default_factory=dict[str, int])
    directives: list[str] = field(default_factory=list[str])

    def say(self, words: str, func: str = "") -> None:
        """Add a directive."""
        self.directives.append(f"{func or self.host}.{words};")

    def likely(self, share: float) -> bool:
        """True with the probability `share`."""
        return self.random.random() < share

    def block(self, label: str, sizes: Sequence[int]) -> None:
        """Add blocks of a label."""
        self.blocks[label] = self.random.choice(sizes)
        self.say(f"block({label}:{self.blocks[label]})")

    def tile(self, label: str, sizes: Sequence[int]) -> None:
        """Add lanes along a label; 0 stands for the whole block."""
        self.tiles[label] = self.random.choice(sizes)
        self.say(f"tensorize({label}:{self.tiles[label]})")

    def map(self) -> None:
        """Add the order of blocks, some of them in groups."""
        outer: list[str] = []
        inner: list[str] = []
        for label in self.random.sample(list(self.blocks), len(self.blocks)):
            if self.likely(0.6):
                outer.append(f"{label}:{label}g/{self.random.choice((2, 3))}")
                inner.append(f"{label}g")
            else:
                outer.append(label)
        self.random.shuffle(inner)
        self.say(f"map({', '.join((*outer, *inner))})")

    @property
    def text(self) -> str:
        """Return the text of the file."""
        return "\n".join((self.algorithm, *self.directives, f"{self.host}.compile();"))


def expert(random: Random) -> tuple[Program, dict[str, int]]:
    """Return a Program that passes the static checks, and sizes for it."""
    while True:
        draft = random.choice((_product, _product, _reduction, _reduction, _map))(random)
        draft.say(f"num_warps({random.choice((1, 2, 4, 8))})")
        program = read(draft.text)
        if not has_errors(check_schedule(program, DIRECTIVES)):
            return program, _sizes(draft)


def _sizes(draft: Draft) -> dict[str, int]:
    while True:
        sizes = {label: draft.random.choice(some) for label, some in draft.labels.items()}
        if _steps(draft, sizes) <= MOST_STEPS:
            return sizes


def _steps(draft: Draft, sizes: Mapping[str, int]) -> int:
    """Return roughly how many tiles there are."""
    lanes = {label: draft.tiles.get(label, 1) or size for label, size in sizes.items()}
    return prod(-(-size // max(lanes[label], 1)) for label, size in sizes.items())


def _product(random: Random) -> Draft:
    """Write `f[m, n]`, which sums over `k`.

    Other Funcs come before or after it, or there is a second product.
    """
    left, right = random.choice(("m, k", "k, m")), random.choice(("k, n", "n, k"))
    before, after = (
        random.choice(("", "", "exp(0.25 * {})", "maximum(0, {})")),
        random.choice(("", "", "2 * {} + C[n]", "tanh({})", "rdot({}, D[n, l], n)")),
    )
    lines = ["Func f, g, h; In A, B, C, D; RVar m, n, l, k;"]
    operand = f"A[{left}]"
    if before:
        lines.append(f"g[{left}] = {before.format(operand)};")
        operand = f"g[{left}]"
    lines.append(f"f[m, n] = rdot({operand}, B[{right}], k);")
    is_chain = "rdot" in after
    if after:
        lines.append(f"h[m, {'l' if is_chain else 'n'}] = {after.format('f[m, n]')};")
    host = "h" if after else "f"
    sizes = {label: (1, 5, 16, 17, 33, 40) for label in ("m", "n", "k")}
    draft = Draft(random, host, _declared(lines), sizes | ({"l": (3, 17)} if is_chain else {}))
    if after and draft.likely(0.8):
        draft.say(f"fuse_at({host}, m)", "f")
    if before:
        say = random.choice(("inline()", "fuse_at(f, m)", ""))
        if say:
            draft.say(say, "g")
    for label in "m" if is_chain else "mn":
        if draft.likely(0.7):
            draft.block(label, (16, 16, 32, 2))
    draft.tile("m", (0, 16) if draft.blocks.get("m", 16) > 2 else (0,))
    draft.tile("n", (0, 16) if draft.blocks.get("n", 16) > 2 else (0,))
    if is_chain:
        draft.tile("l", (0, 16))
    if not after and draft.likely(0.4):
        _in_parts(draft, "k", (16, 32), is_atomic=draft.likely(0.5))
    draft.tile("k", (0, 16))
    if len(draft.blocks) > 1 and draft.likely(0.6):
        draft.map()
    if draft.likely(0.4):
        draft.say(f"precision({random.choice(('ieee', 'tf32', 'tf32x3'))})")
    if draft.likely(0.3):
        draft.say(f"num_stages({random.choice((1, 2, 3))})")
    return draft


def _in_parts(draft: Draft, label: str, sizes: Sequence[int], *, is_atomic: bool) -> None:
    """Add blocks of a label that is reduced, with partial results or atomic ones."""
    if is_atomic:
        draft.block(label, sizes)
        draft.say(f"atomic({label})")
        if draft.likely(0.7):
            # Memory cannot combine every type that a caller may have.
            draft.algorithm = draft.algorithm.replace("f;", "f: f32;", 1).replace(
                "f,", "f: f32,", 1
            )
    elif draft.likely(0.5):
        draft.block(label, sizes)
    else:
        draft.blocks[label] = draft.random.choice(sizes)
        draft.say(f"block({label}:{label}b/{draft.blocks[label]})")


def _reduction(random: Random) -> Draft:
    """Write a reduction of each row, whole or in parts, and perhaps a Func that uses the result."""
    operation = random.choice(("rsum", "rsum", "rmax", "rmin", "rany", "rall", "rprod"))
    truth = " > 0.25" if operation in ("rany", "rall") else ""
    operand = random.choice(("A[x, k]", "A[x, k] * B[k]", "abs(A[x, k])")) + truth
    lines = [
        "Func f, h; In A, B; RVar x, k;",
        f"f[x] = {operation}({operand}, k);",
    ]
    is_used = random.random() < 0.3
    if is_used:
        lines.append("h[x, k] = where(A[x, k] > 0, A[x, k], reshape(f[x], x, 1));")
    draft = Draft(
        random,
        "h" if is_used else "f",
        _declared(lines),
        {"x": (1, 2, 5, 7, 13), "k": (0, 1, 31, 64, 65, 131, 257)},
    )
    if draft.likely(0.6):
        draft.block("x", (1, 2, 4))
    if draft.likely(0.4):
        draft.tile("x", (0,))
    if is_used:
        draft.say("fuse_at(h, x)", "f")
    elif draft.likely(0.7):
        _in_parts(draft, "k", (16, 32, 64), is_atomic=operation in ATOMIC and draft.likely(0.7))
    draft.tile("k", (0, 8, 16))
    if len(draft.blocks) > 1 and draft.likely(0.5):
        draft.map()
    return draft


def _map(random: Random) -> Draft:
    """Write an elementwise Func, in blocks that are visited in groups."""
    labels = ("x", "y", "z")[: random.choice((2, 2, 3))]
    place = ", ".join(labels)
    lines = [
        f"Func f; In A, B; Var {place};",
        f"f[{place}] = maximum(0, A[{place}]) + B[{labels[-1]}];",
    ]
    draft = Draft(random, "f", _declared(lines), {label: (1, 2, 5, 7, 11) for label in labels})
    for label in labels:
        draft.block(label, (1, 2, 3))
    for label in labels[1:]:
        draft.tile(label, (0,))
    draft.map()
    return draft


def _declared(lines: Sequence[str]) -> str:
    """Return the lines, with declarations of the names that occur in them."""
    head, *definitions = lines
    body = "\n".join(definitions)
    return "\n".join((*_kept(head, body), body))


def _kept(head: str, body: str) -> Iterator[str]:
    for part in head.split(";")[:-1]:
        word, names = part.split(maxsplit=1)
        used = [name for name in names.split(", ") if _occurs(name, body)]
        if used:
            yield f"{word} {', '.join(used)};"


def _occurs(name: str, body: str) -> bool:
    marks = "[](), =;"
    return any(f"{a}{name}{b}" in f" {body}" for a in marks + "\n" for b in marks)

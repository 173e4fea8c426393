"""Makes random algorithms as text: formulas of all functions, and layers as models have them.

The algorithms of the oracle multiply what they read. Those here have each function that has a
derivative, values of labels and sizes, numbers that have gradients, conditions, random numbers,
casts, powers, lists and scans beside each other, and layers that follow each other, as a softmax
does the product of a norm.
"""

from dataclasses import dataclass, field
from random import Random

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.diagnostics import DtpolyError
from tests.gradient.comparing import read
from tests.oracle.cases import Case

LABELS = ("x", "y", "z")
EXTENTS = (0, 1, 1, 2, 3, 3, 4, 5)
SMOOTH = (
    "sin({})",
    "cos({})",
    "tanh({})",
    "sigmoid({})",
    "erf({})",
    "exp(sin({}))",
    "exp2(tanh({}))",
    "log(1.5 + abs({}))",
    "log2(2 + cos({}))",
    "sqrt(1 + {0} * {0})",
    "sqrt_rn(2 + sin({}))",
    "rsqrt(2 + cos({}))",
    "pow(2 + sin({}), 1.5)",
    "pow(3 + cos({}), -1)",
    "pow({}, 2)",
    "pow({}, 3)",
    "-{}",
    "0.5 * {}",
    "cast({}, f64)",
)
KINKED = (
    "abs({})",
    "maximum({}, 0)",
    "minimum({}, 0.25)",
    "clamp({}, -0.5, 0.75)",
    "{0} * floor({0})",
    "{0} * ceil({0})",
    "{0} + round({0})",
    "{0} * trunc({0})",
    "{0} * cast(cast({0}, i64), f64)",
    "where({0} > 0, {0}, 0.1 * {0})",
)
BINARY = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / (3 + sin({}))",
    "div_rn({}, 2 + cos({}))",
    "fdiv({}, 2 + cos({}))",
    "{} % (1.5 + sigmoid({}))",
    "maximum({}, {})",
    "minimum({}, {})",
    "pow(1.5 + sigmoid({}), sin({}))",
    "fma({0}, {1}, {0})",
    "clamp({}, -1 - abs({}), 1)",
    "where({0} < {1}, {0}, {1} * 0.5)",
    "where({0} < {1} and not {0} > 0.5, {1}, {0} - {1})",
    "where({0} <= 0 or {1} >= 0, {0} * {1}, {1})",
)
REDUCED = ("rsum({}, {})", "rmax({}, {})", "rmin({}, {})", "rprod(1 + 0.25 * {}, {})")


@dataclass
class Writer:
    """Writes a file: declarations as they are needed, and definitions."""

    random: Random
    funcs: list[str] = field(default_factory=list[str])
    inputs: dict[str, str] = field(default_factory=dict[str, str])
    scalars: dict[str, str] = field(default_factory=dict[str, str])
    labels: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[str] = field(default_factory=list[str])
    along: dict[str, str] = field(default_factory=dict[str, str])  # of the labels of scans

    def tensor(self, dtype: str = "") -> str:
        """Declare a tensor."""
        name = f"{'T' if dtype else 'A'}{len(self.inputs)}"
        self.inputs[name] = dtype
        return name

    def scalar(self, dtype: str = "") -> str:
        """Declare a number, or take one that is there."""
        known = [one for one, own in self.scalars.items() if own == dtype]
        if known and self.random.random() < 0.5:
            return self.random.choice(known)
        name = f"s{len(self.scalars)}"
        self.scalars[name] = dtype
        return name

    def label(self, front: str, said: str = "") -> str:
        """Declare a label of its own."""
        name = f"{front}{len(self.labels)}"
        self.labels[name] = said
        return name

    def define(self, labels: tuple[str, ...], body: str, into: str = "") -> str:
        """Define a Func, and say where its elements go."""
        name = f"f{len(self.funcs)}"
        self.funcs.append(f"{name} {into}" if into else name)
        self.lines.append(f"{name}[{', '.join(labels)}] = {body};")
        return name

    def text(self) -> str:
        """Return the file."""
        said = [f"Func {', '.join(self.funcs)};"]
        for word, every in (("In", self.inputs), ("SIn", self.scalars), ("RVar", self.labels)):
            parts = [one + _behind(own) for one, own in every.items()]
            said += [f"{word} {', '.join(parts)};"] if parts else []
        return "\n".join((*said, *self.lines)) + "\n"

    def one(self, forms: tuple[str, ...], *parts: str) -> str:
        """Put parts into one of some forms."""
        return f"({self.random.choice(forms).format(*parts)})"


def _behind(said: str) -> str:
    """Return what stands behind a name: a type or a size, or a range."""
    return f" {said}" if said.startswith("in ") else f": {said}" if said else ""


class Formulas(Writer):
    """Writes Funcs whose definitions are random expressions."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.labels |= dict.fromkeys(LABELS, "")
        self.known: list[tuple[str, tuple[str, ...]]] = []

    def made(self) -> None:
        """Define some Funcs."""
        for _ in range(self.random.choice((1, 2, 2, 3))):
            labels = self.some()
            body = self.formula(labels, self.random.choice((1, 2, 2, 3)))
            self.known.append((self.define(labels, body), labels))

    def some(self) -> tuple[str, ...]:
        """Return some labels in their order."""
        return tuple(one for one in LABELS if self.random.random() < 0.6)

    def formula(self, labels: tuple[str, ...], depth: int) -> str:
        """Return an expression with these labels."""
        if not depth:
            return self.leaf(labels)
        free = [one for one in LABELS if one not in labels]
        match self.random.randrange(10):
            case 0 | 1 | 2:
                return self.one(SMOOTH, self.formula(labels, depth - 1))
            case 3 | 4:
                return self.one(KINKED, self.formula(labels, depth - 1))
            case 5 | 6 if free:
                return self.reduced(labels, self.random.choice(free), depth)
            case 7:
                return self.chosen(labels, depth)
            case _:
                parts = (self.formula(labels, depth - 1), self.formula(labels, depth - 1))
                return self.one(BINARY, *parts)

    def reduced(self, labels: tuple[str, ...], own: str, depth: int) -> str:
        """Return a reduction over a label."""
        inner = tuple(one for one in LABELS if one in (*labels, own))
        if self.random.random() < 0.3:
            sides = [self.formula(inner, depth - 1) for _ in range(2)]
            return f"rdot({sides[0]}, {sides[1]}, {own})"
        return self.one(REDUCED, self.formula(inner, depth - 1), own)

    def chosen(self, labels: tuple[str, ...], depth: int) -> str:
        """Return a choice by indices, or by random numbers."""
        yes, no = self.formula(labels, depth - 1), self.leaf(labels)
        if not labels:
            return f"where({self.leaf(())} > 0, {yes}, {no})"
        first, last = labels[0], labels[-1]
        condition = self.random.choice(
            (
                f"{first} <= {last}",
                f"({first} + {last}) % 2 == 0",
                f"{first} < len({last}) - 1",
                f"random({self.scalar('i64')}, {', '.join(labels)}) < 0.6",
                f"random_bits({self.scalar('i64')}, {', '.join(labels)}) % 3 == 0",
            )
        )
        return f"where({condition}, {yes}, {no})"

    def leaf(self, labels: tuple[str, ...]) -> str:
        """Return a read, or a number."""
        match self.random.randrange(12):
            case 0:
                return self.scalar()
            case 1 if labels:
                return f"(0.25 * {self.random.choice(labels)})"
            case 2 if labels:
                return f"(1 / (1 + len({self.random.choice(labels)})))"
            case 3 if labels:
                return f"random({self.scalar('i64')}, {', '.join(labels)})"
            case 4:
                return "0.75"
            case _:
                return self.read(labels)

    def read(self, labels: tuple[str, ...]) -> str:
        """Return a read that lines up with some labels."""
        fitting = [one for one in self.known if set(one[1]) <= {*labels}]
        if fitting and self.random.random() < 0.5:
            name, own = self.random.choice(fitting)
            return self.lined_up(f"{name}[{', '.join(own)}]", own, labels)
        own = tuple(one for one in labels if self.random.random() < 0.7)
        name = self.tensor()
        if not own or self.random.random() < 0.7:
            return self.lined_up(f"{name}[{', '.join(own)}]", own, labels)
        at = self.random.randrange(len(own))
        one, table = own[at], self.tensor("i64") if self.random.random() < 0.4 else ""
        index = f"{table}[{one}]" if table else self.index(one)
        indices = ", ".join(index if i == at else other for i, other in enumerate(own))
        if "-" in index or (table and self.random.random() < 0.5):
            value = self.random.choice(("0", "1.5", "-0.5"))
            return self.lined_up(f"pad({name}, {value})[{indices}]", own, labels, named=True)
        return self.lined_up(f"{name}[{indices}]", own, labels, named=not table)

    def index(self, label: str) -> str:
        """Return an index that is made of one label."""
        forms = ("2 * {}", "{} // 2", "{} % 3", "{} + 1", "{} - 1", "2 * {} - 1", "{} // 3 + 1")
        return self.random.choice(forms).format(label)

    def lined_up(
        self, said: str, own: tuple[str, ...], labels: tuple[str, ...], *, named: bool = False
    ) -> str:
        """Give a read the layout of some labels; some reads line up by name."""
        if named or own == labels or not own:
            return said
        return f"reshape({said}, {', '.join(one if one in own else '1' for one in labels)})"


class Layers(Writer):
    """Writes layers of a model, each of which computes rows of features of rows of features."""

    def made(self) -> None:
        """Define some layers, and a loss sometimes."""
        self.labels |= {"t": "", "d": ""}
        self.width = "d"
        self.last = self.tensor()
        steps = [self.norm, self.soft, self.gate, self.linear, self.attend, self.scan, self.shift]
        steps += [self.pool, self.listed, self.embed, self.residual]
        for _ in range(self.random.choice((1, 2, 2, 3))):
            self.random.choice(steps)()
        if self.random.random() < 0.5:
            self.random.choice((self.cross_entropy, self.squares, self.divergence))()

    def at(self, row: str, feature: str) -> str:
        """Return the read of what the last layer computed."""
        return f"{self.last}[{row}, {feature}]"

    def put(self, body: str) -> None:
        """Define the result of a layer."""
        self.last = self.define(("t", self.width), body)

    def row(self, body: str) -> str:
        """Define what is computed of a row, and return a read of it."""
        return f"reshape({self.define(('t',), body)}[t], t, 1)"

    def norm(self) -> None:
        """Normalize by a root of squares, or by mean and deviation."""
        w, k = self.width, self.label("k")
        weight = self.tensor()
        if self.random.random() < 0.5:
            square = f"{self.at('t', k)} * {self.at('t', k)}"
            root = self.row(f"rsqrt(rsum({square}, {k}) / (1 + len({k})) + 0.5)")
            self.put(f"{self.at('t', w)} * {root} * {weight}[{w}]")
            return
        mean = self.define(("t",), f"rsum({self.at('t', k)}, {k}) / (1 + len({k}))")
        moved = f"({self.at('t', k)} - reshape({mean}[t], t, 1))"
        root = self.row(f"sqrt(rsum({moved} * {moved}, {k}) / (1 + len({k})) + 0.25)")
        self.put(f"({self.at('t', w)} - reshape({mean}[t], t, 1)) / {root} + {weight}[{w}]")

    def soft(self) -> None:
        """Compute a softmax, or its logarithm, or weights with a temperature."""
        w, k, scale = self.width, self.label("k"), self.random.choice(("1", self.scalar()))
        top = self.row(f"rmax({self.at('t', k)}, {k})")
        total = self.define(("t",), f"rsum(exp({scale} * ({self.at('t', k)} - {top})), {k})")
        again, moved = f"reshape({total}[t], t, 1)", f"{scale} * ({self.at('t', w)} - {top})"
        forms = (
            f"exp({moved}) / {again}",
            f"{moved} - log({again})",
            f"exp({moved} - log({again}))",
        )
        self.put(self.random.choice(forms))

    def gate(self) -> None:
        """Multiply by a function of another tensor."""
        other, w = self.tensor(), self.width
        form = self.random.choice(("sigmoid({})", "{0} * sigmoid({0})", "erf({})", "tanh({})"))
        self.put(f"{form.format(f'{other}[t, {w}]')} * {self.at('t', w)}")

    def linear(self) -> None:
        """Multiply by a matrix, and add a bias sometimes."""
        k, weight, bias = self.label("k"), self.tensor(), ""
        new = self.label("n")
        if self.random.random() < 0.5:
            bias = f" + {self.tensor()}[{new}]"
        body = f"rdot({self.at('t', k)}, {weight}[{k}, {new}], {k}){bias}"
        self.width = new
        self.put(body)

    def attend(self) -> None:
        """Attend to all rows, or to those before."""
        k, own = self.label("k"), self.label("u")
        query = f"rdot({self.at('t', k)}, {self.at(own, k)}, {k}) * 0.3"
        if self.random.random() < 0.5:
            query = f"where({own} <= t, {query}, -inf)"
        scores = self.define(("t", own), query)
        top = self.row(f"rmax({scores}[t, {own}], {own})")
        weight = self.define(("t", own), f"exp({scores}[t, {own}] - {top})")
        total = self.row(f"rsum({weight}[t, {own}], {own})")
        w = self.width
        self.put(f"rdot({weight}[t, {own}], {self.at(own, w)}, {own}) / {total}")

    def scan(self) -> None:
        """Carry a state along the rows."""
        s, w = self.label("s"), self.width
        words = self.random.choice(("", ", before", ", reverse", ", before, reverse"))
        decay = f"sigmoid({self.tensor()}[{s}, {w}])"
        forms = (
            f"scan_sum({self.at(s, w)}, {s}, t{words})",
            f"scan_max({self.at(s, w)}, {s}, t)",
            f"scan_prod(1 + 0.1 * {self.at(s, w)}, {s}, t{words})",
            f"scan_affine({decay}, {self.at(s, w)}, {s}, t, 0.5{words})",
        )
        self.put(self.random.choice(forms))

    def shift(self) -> None:
        """Mix rows with their neighbours."""
        r, weight, w = self.label("r", "3"), self.tensor(), self.width
        near = f"pad({self.last}, 0)[t + {r} - 1, {w}]"
        self.put(f"rsum({weight}[{r}] * {near}, {r})")

    def pool(self) -> None:
        """Take the largest or the mean of neighbours."""
        r, w = self.label("r", "2"), self.width
        near = f"pad({self.last}, 0)[2 * t + {r}, {w}]"
        self.put(self.random.choice((f"rmax({near}, {r})", f"rsum({near}, {r}) / 2")))

    def listed(self) -> None:
        """Take the largest features."""
        k, new = self.label("k"), self.label("j", "2")
        body = f"rtopk({self.at('t', k)}, {k}, {new})"
        self.width = new
        self.put(f"maximum({body}, -2)")

    def embed(self) -> None:
        """Add rows of a table, which another table names."""
        table, names, w = self.tensor(), self.tensor("i64"), self.width
        self.put(f"{self.at('t', w)} + {table}[{names}[t], {w}]")

    def residual(self) -> None:
        """Add what a layer computes to what it computes it of."""
        before, w = self.last, self.width
        self.random.choice((self.norm, self.soft, self.gate, self.scan))()
        self.put(f"{before}[t, {w}] + {self.at('t', w)}")

    def cross_entropy(self) -> None:
        """Compute a loss of classes."""
        classes, w = self.tensor("i64"), self.width
        top = self.row(f"rmax({self.at('t', w)}, {w})")
        total = f"log(rsum(exp({self.at('t', w)} - {top}), {w}))"
        own = f"rsum(where({w} == reshape({classes}[t], t, 1), {self.at('t', w)}, 0), {w})"
        kept = self.define(("t",), f"{total} + rmax({self.at('t', w)}, {w}) - {own}")
        self.define(("t",), f"where({classes}[t] == 2, 0, {kept}[t])")

    def squares(self) -> None:
        """Compute a mean of squares."""
        goal, w = self.tensor(), self.width
        far = f"({self.at('t', w)} - {goal}[t, {w}])"
        self.define((), f"rsum({far} * {far}, t, {w}) / (1 + len(t))")

    def divergence(self) -> None:
        """Compute how far two distributions are apart."""
        goal, w = self.tensor(), self.width
        share = f"sigmoid({goal}[t, {w}])"
        self.define(("t",), f"rsum({share} * (log({share}) - {self.at('t', w)}), {w})")


def formula_case(seed: int) -> Case:
    """Return a random case of formulas."""
    return written_case(f"formulas {seed}", Formulas)


def layer_case(seed: int) -> Case:
    """Return a random case of layers."""
    return written_case(f"layers {seed}", Layers)


def written_case(seed: str, kind: type[Formulas] | type[Layers]) -> Case:
    """Return the first file of a seed that has no mistake, and sizes for it."""
    for attempt in range(1000):
        random = Random(f"{seed} {attempt}")
        writer = kind(random)
        writer.made()
        assumed = {one: random.choice(EXTENTS) for one in writer.labels}
        try:
            program = read(writer.text())
            fixed = {one: size for one, size in program.fixed.items() if one in assumed}
            sizes = filled(program, {}, assumed | fixed)
            rules = {rule.label for rule in size_rules(program) if rule.may_be_passed}
            known = {one: size for one, size in sizes.items() if one in rules}
            found = sizes_of(program, input_shapes(program, sizes), known)
        except DtpolyError:
            continue
        # Of no elements none is the largest, which is an error.
        is_without = "rarg" in writer.text() and 0 in sizes.values()
        if found == sizes and not is_without:
            return Case(program, sizes)
    raise AssertionError(seed)

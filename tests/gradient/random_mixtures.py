"""Makes random algorithms in which many parts of the language stand beside each other.

There are formulas as in `random_texts`, and with them scans, lists, ranges of labels and of data,
numbers of 16 bits, whole numbers and their bits, packed inputs, reads at several data and at sums,
quotients and remainders, and results that go into an input, at places of it, or are added there.
"""

from collections.abc import Callable

from tests.gradient.random_texts import LABELS, Formulas, written_case
from tests.oracle.cases import Case

ROUNDED = ("bf16", "f16", "f32")
BITS = ("({} & 3)", "({} >> 1)", "({} ^ 5) % 4", "({} // 2)", "({} | 1)", "(~{} << 1)", "({} % 3)")
RANGES = (
    "[0, {0} + 1)",
    "[{0}, len({1}))",
    "[1, len({1}))",
    "[0, len({1}) - 1)",
    "[{0} - 1, {0} + 2)",
)
DATA_RANGES = ("[{2}[{0}], {2}[{0} + 1])", "[0, {2}[{0}])", "[{2}[0], len({1}))")
SUMS = ("{} + {}", "2 * {} + {}", "{} - {} + 1", "{} // 2 + {}", "{} % 2 + {}", "3 - {} - {}")
TWISTED = 0.45  # of the steps of a formula, how many use what simple formulas have not


class Mixtures(Formulas):
    """Writes Funcs of all kinds, some of which go into inputs."""

    def made(self) -> None:
        """Define some Funcs, and a result in place sometimes."""
        if self.random.random() < 0.4:
            self.put_range()
        for _ in range(self.random.choice((1, 2, 2, 3))):
            labels = self.some()
            body = self.formula(labels, self.random.choice((1, 2, 2, 3)))
            self.known.append((self.define(labels, body), labels))
        if self.random.random() < 0.7:
            self.joined()
        ways = (self.replaced, self.added, self.gathered)
        while self.random.random() < 0.35:
            self.random.choice(ways)()

    def some(self) -> tuple[str, ...]:
        """Return some labels in their order, seldom none."""
        return super().some() or super().some()

    def joined(self) -> None:
        """Let one result depend on all Funcs that nothing reads."""
        text = " ".join(self.lines)
        free = [(name, own) for name, own in self.known if text.count(f"{name}[") == 1]
        labels = self.random.choice(((), *(own for _, own in free)))
        parts: list[str] = []
        for name, own in free:
            read = f"{name}[{', '.join(own)}]"
            rest = [one for one in own if one not in labels]
            form = self.random.choice(("{}", "sin({})", "{0} * {0}", "abs({})"))
            read = f"rsum({form.format(read)}, {', '.join(rest)})" if rest else read
            kept = tuple(one for one in own if one in labels)
            parts.append(self.lined_up(read, kept, labels, named=bool(rest)))
        if parts:
            self.known.append((self.define(labels, " + ".join(parts)), labels))

    def put_range(self) -> None:
        """Give a label a range, which the label before it, or a table, decides."""
        at = self.random.randrange(1, len(LABELS))
        around, own = LABELS[self.random.randrange(at)], LABELS[at]
        if self.random.random() < 0.5:
            said = self.random.choice(RANGES).format(around, own)
        else:
            said = self.random.choice(DATA_RANGES).format(around, own, self.tensor("i64"))
        self.labels[own] = f"in {said}"

    def formula(self, labels: tuple[str, ...], depth: int) -> str:
        """Return an expression with these labels."""
        if not depth or self.random.random() > TWISTED:
            return super().formula(labels, depth)
        ways: list[Callable[[tuple[str, ...], int], str]] = [self.rounded, self.twice]
        ways += [self.scanned, self.scanned, self.listed, self.extreme] if labels else []
        return self.random.choice(ways)(labels, depth - 1)

    def reduced(self, labels: tuple[str, ...], own: str, depth: int) -> str:
        """Return a reduction over a label; scans bring labels that stand in no order."""
        inner = self.in_order((*labels, own))
        if self.random.random() < 0.3:
            sides = [self.formula(inner, depth - 1) for _ in range(2)]
            return f"rdot({sides[0]}, {sides[1]}, {own})"
        word = self.random.choice(("rsum({}, {})", "rmax({}, {})", "rmin({}, {})"))
        return f"({word.format(self.formula(inner, depth - 1), own)})"

    def in_order(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return labels in their order; one that a scan brings stands where the scan goes along."""
        return tuple(sorted(labels, key=lambda one: self.place.get(one, one)))

    @property
    def place(self) -> dict[str, str]:
        """Return for the label of each scan the one that it goes along."""
        return {one: said for one, said in self.along.items()}

    def rounded(self, labels: tuple[str, ...], depth: int) -> str:
        """Round to fewer bits, and go on in 64."""
        return f"cast(cast({self.formula(labels, depth)}, {self.random.choice(ROUNDED)}), f64)"

    def twice(self, labels: tuple[str, ...], depth: int) -> str:
        """Read a Func twice, so that it is given something from two sides."""
        name = self.define(labels, self.formula(labels, depth))
        self.known.append((name, labels))
        read = f"{name}[{', '.join(labels)}]"
        form = self.random.choice(
            ("{0} * {0}", "{0} * sin({0})", "maximum({0}, -{0})", "{0} - {1}")
        )
        return f"({form.format(read, self.leaf(labels))})"

    def scanned(self, labels: tuple[str, ...], depth: int) -> str:
        """Carry a state along a label."""
        at, words = (
            self.random.choice(labels),
            self.random.choice(("", "", ", before", ", reverse", ", before, reverse")),
        )
        own = self.label("s")
        self.along[own] = self.place.get(at, at)
        inner = tuple(own if one == at else one for one in labels)
        value = self.formula(inner, depth)
        form = self.random.choice(
            (
                "scan_sum({0}, {2}, {3}{4})",
                "scan_max({0}, {2}, {3})",
                "scan_min({0}, {2}, {3}, reverse)",
                "scan_prod(1 + 0.25 * {0}, {2}, {3}{4})",
                "scan_affine(sigmoid({1}), {0}, {2}, {3}, 0.5{4})",
                "scan_affine({1}, {0}, {2}, {3}, {5}{4})",
            )
        )
        first = self.scalar()
        body = form.format(value, self.leaf(inner), own, at, words, first)
        name = self.define(labels, body)
        self.known.append((name, labels))
        return f"{name}[{', '.join(labels)}]"

    def listed(self, labels: tuple[str, ...], depth: int) -> str:
        """Take some of the largest values along a label of its own."""
        free = [one for one in LABELS if one not in labels]
        if not free:
            return self.formula(labels, depth)
        own, place = self.random.choice(free), self.label("j", "2")
        inner = self.in_order((*labels, own))
        value = self.formula(inner, depth)
        name = self.define((*labels, place), f"maximum(rtopk({value}, {own}, {place}), -3)")
        read = f"{name}[{', '.join((*labels, place))}]"
        return self.random.choice((f"rsum({read} * {read}, {place})", f"rmin({read}, {place})"))

    def extreme(self, labels: tuple[str, ...], depth: int) -> str:
        """Take an extreme away, or read at where it is."""
        free = [one for one in LABELS if one not in labels]
        if not free:
            return self.formula(labels, depth)
        own = self.random.choice(free)
        inner = self.in_order((*labels, own))
        value = self.define(inner, self.formula(inner, depth))
        word = self.random.choice(("max", "min"))
        read = f"{value}[{', '.join(inner)}]"
        if self.random.random() < 0.4:
            index = self.define(labels, f"rarg{word}({read}, {own})")
            return f"{self.tensor()}[{index}[{', '.join(labels)}], {labels[-1]}]"
        top = self.define(labels, f"r{word}({read}, {own})")
        shape = ", ".join("1" if one == own else one for one in inner)
        far = f"{read} - reshape({top}[{', '.join(labels)}], {shape})"
        return f"rsum(exp({'-' if word == 'min' else ''}({far})) * {self.leaf(inner)}, {own})"

    def leaf(self, labels: tuple[str, ...]) -> str:
        """Return a read, or a number."""
        if not labels or self.random.random() > TWISTED:
            return super().leaf(labels) if self.random.random() < 0.3 else self.read(labels)
        one, other = (self.random.choice(labels) for _ in range(2))
        match self.random.randrange(7):
            case 0:
                whole = f"{self.tensor('i64')}[{one}]"
                bits = self.random.choice(BITS).format(whole)
                own = ", ".join("1" if label != one else one for label in labels)
                return f"reshape(cast({bits}, f64), {own})"
            case 1:
                return f"{self.tensor(f'i4 packed {one}')}[{one}]" if len(labels) == 1 else "0.5"
            case 2:
                return f"{self.tensor()}[{one}, {one}]"
            case 3:
                index = self.random.choice(SUMS).format(one, other)
                return f"pad({self.tensor()}, {self.random.choice(('0', '0.5'))})[{index}]"
            case 4:
                tables = [self.tensor("i64") for _ in range(2)]
                return f"{self.tensor()}[{tables[0]}[{one}], {tables[1]}[{other}]]"
            case 5:
                index = f"{self.tensor('i64')}[{one}] // 2 + {other}"
                return f"pad({self.tensor()}, 1)[{index}]"
            case _:
                return f"{self.tensor()}[{one} // 2, {other} % 2]"

    def replaced(self) -> None:
        """Let a result take the place of an input, of which it is a weighted part."""
        labels = self.some()
        old = self.tensor()
        read = f"{old}[{', '.join(labels)}]"
        body = self.random.choice(
            ("{0} * 0.5 + {1}", "{1} - {0}", "where({1} > 0, {1}, {0})", "{0} + 0.25 * {0} * {2}")
        ).format(read, self.formula(labels, 1), self.scalar())
        self.define(labels, body, f"into {old}")

    def added(self) -> None:
        """Let elements be added at places of an input."""
        labels = self.some() or ("x",)
        old, table = self.tensor(), self.tensor("i64")
        first = self.random.choice((f"{table}[{{}}]", "2 * {} + 1", f"{table}[{{}}] + 1"))
        at = self.random.randrange(len(labels))
        places = [first.format(one) if i == at else one for i, one in enumerate(labels)]
        self.define(labels, self.formula(labels, 1), f"into {old} at [{', '.join(places)}] add")

    def gathered(self) -> None:
        """Let sums begin with a Func of fixed size, whose elements a table names."""
        labels, group = self.some() or ("x",), self.label("g", "3")
        rest, table = labels[1:], self.tensor("i64")
        start = self.define((group, *rest), self.random.choice(("0", self.formula((group,), 1))))
        place = ", ".join((f"{table}[{labels[0]}]", *rest))
        self.define(labels, self.formula(labels, 1), f"into {start} at [{place}] add")


def mixture_case(seed: int) -> Case:
    """Return a random case of mixtures."""
    return written_case(f"mixtures {seed}", Mixtures)

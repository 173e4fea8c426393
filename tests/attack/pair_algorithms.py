"""A random algorithm that means something, as .dt text; half are of the kinds that users write."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from random import Random

from tests.attack.pair_known import KNOWN

FLOATS = ("", "", "", "", "", ": f16", ": bf16", ": f32", ": f64")
SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 64, 100, 128)
VARS, REDUCED = ("x", "y", "z", "w"), ("k", "l", "r", "s")
UNARY = (
    "exp",
    "abs",
    "sqrt",
    "tanh",
    "sigmoid",
    "log",
    "floor",
    "rsqrt",
    "erf",
    "cos",
    "-",
    "ceil",
)
SUMS = ("rsum", "rsum", "rsum", "rmax", "rmax", "rmin", "rprod")


def algorithm(random: Random) -> str:
    """Return the declarations and definitions of a file."""
    return _known(random) if random.random() < 0.55 else _Writer(random).text()


def _known(random: Random) -> str:
    text = random.choice(KNOWN)
    kinds: dict[str, str] = {}
    alike = random.choice(FLOATS)
    is_fixed = random.random() < 0.25

    def dtype(match: re.Match[str]) -> str:
        one = alike if random.random() < 0.9 else random.choice(FLOATS)
        return kinds.setdefault(match[1], one)

    def size(match: re.Match[str]) -> str:
        if match[1].isdigit():
            return f": {match[1]}" if random.random() < 0.8 else ""
        return f": {random.choice(SIZES)}" if is_fixed and random.random() < 0.5 else ""

    return re.sub(r"\^(\w+)", size, re.sub(r"@(\w)", dtype, text)) + "\n"


@dataclass(frozen=True)
class _Part:
    """An expression: its text, its labels by position, those by name, and whether it is true."""

    text: str
    axes: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    kind: str = "float"
    is_alone: bool = False  # its axes are in another order, so that it stands beside nothing


@dataclass(frozen=True)
class _Tensor:
    name: str
    labels: tuple[str, ...]
    kind: str
    is_input: bool


@dataclass
class _Writer:
    random: Random
    tensors: list[_Tensor] = field(default_factory=list[_Tensor])
    inputs: dict[str, str] = field(default_factory=dict[str, str])
    scalars: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])

    def text(self) -> str:
        random = self.random
        names = [*"abcdefg"[: random.choice((0, 0, 0, 1, 1, 2, 3))], "f"]
        before: _Tensor | None = None
        self.alike = random.choice(FLOATS)
        for name in names:
            rank = random.choice((0, 1, 1, 2, 2, 2, 2, 3, 3, 4))
            if before is not None and random.random() < 0.7:
                rank = len(before.labels)
            labels = VARS[:rank]
            body = self._body(labels, before)
            left = [*labels]
            if random.random() < 0.1:
                random.shuffle(left)
            dtype = ": f32" if body.kind == "float" and random.random() < 0.08 else ""
            self.lines.append(f"{name}[{', '.join(left)}] = {body.text};")
            self.inputs.setdefault(name, dtype)
            before = _Tensor(name, tuple(left), body.kind, is_input=False)
            self.tensors.append(before)
        funcs = ", ".join(f"{name}{self.inputs[name]}" for name in names)
        read = [one for one in self.tensors if one.is_input]
        head = [f"Func {funcs};"]
        if read:
            head.append(f"In {', '.join(one.name + self.inputs[one.name] for one in read)};")
        if self.scalars:
            head.append(f"SIn {', '.join(self.scalars)};")
        used = " ".join(self.lines)
        for word, labels in (("Var", VARS), ("RVar", REDUCED)):
            there = [one for one in labels if re.search(rf"\b{one}\b", used)]
            sized = [
                f"{one}: {random.choice(SIZES)}" if random.random() < 0.06 else one for one in there
            ]
            if there:
                head.append(f"{word} {', '.join(sized)};")
        return "\n".join((*head, *self.lines, ""))

    def _body(self, labels: tuple[str, ...], before: _Tensor | None) -> _Part:
        """Return what is defined: it has all the labels, and reads the Func before it."""
        random = self.random
        depth = random.choice((0, 1, 1, 2, 2, 3))
        kind = random.choice(("float",) * 8 + ("int", "bool"))
        part = self._value(labels, kind, depth)
        if before is not None and random.random() < 0.9:
            part = self._together("+", part, self._read(before, labels, labels), labels)
        if not part.is_alone and set(labels) - {*part.axes, *part.named}:
            part = self._together("*", part, self._new(labels, labels, part.kind), labels)
        return part

    def _value(self, frame: tuple[str, ...], kind: str, depth: int) -> _Part:
        random = self.random
        if depth == 0:
            return self._leaf(frame, kind)
        roll = random.random()
        if roll < 0.2 and kind == "float":
            return self._unary(self._value(frame, kind, depth - 1))
        if roll < 0.5 and len(frame) < 6:
            return self._reduction(frame, kind, depth)
        if roll < 0.6:
            asked = self._truth(frame, depth - 1)
            one, two = (self._value(frame, kind, depth - 1) for _ in range(2))
            return self._call("where", (asked, one, two), frame, kind)
        if kind == "bool":
            return self._truth(frame, depth)
        one, two = (self._value(frame, kind, depth - 1) for _ in range(2))
        word = random.choice(("+", "-", "*", "+", "*", "/" if kind == "float" else "%", "maximum"))
        if word == "maximum":
            return self._call(random.choice(("maximum", "minimum")), (one, two), frame, kind)
        return self._together(word, one, two, frame)

    def _truth(self, frame: tuple[str, ...], depth: int) -> _Part:
        random = self.random
        if depth > 0 and random.random() < 0.3:
            one, two = (self._truth(frame, depth - 1) for _ in range(2))
            return self._together(random.choice(("and", "or")), one, two, frame)
        word = random.choice(("<", "<=", ">", "==", "!="))
        if len(frame) > 1 and random.random() < 0.4:
            first, second = random.sample(frame, 2)
            sides = (_Part(first, (), (first,), "int"), _Part(second, (), (second,), "int"))
        else:
            kind = random.choice(("float", "int"))
            sides = (self._value(frame, kind, max(depth - 1, 0)), self._number(kind))
        return replace(self._together(word, *sides, frame), kind="bool")

    def _unary(self, of: _Part) -> _Part:
        word = self.random.choice(UNARY)
        text = f"-({of.text})" if word == "-" else f"{word}({of.text})"
        return replace(of, text=text)

    def _reduction(self, frame: tuple[str, ...], kind: str, depth: int) -> _Part:
        random = self.random
        free = [one for one in REDUCED if one not in frame]
        over = tuple(free[: random.choice((1, 1, 1, 2))])
        if kind == "float" and random.random() < 0.4:
            half = [one for one in frame if random.random() < 0.6]
            sides = [
                self._leaf((*part, *over), kind, is_all=True, may_turn=True)
                for part in (tuple(half), tuple(v for v in frame if v not in half) or frame[:1])
            ]
            named = tuple(v for v in frame if any(v in (*s.axes, *s.named) for s in sides))
            text = f"rdot({sides[0].text}, {sides[1].text}, {', '.join(over)})"
            return _Part(text, (), named, kind)
        word = random.choice(("rany", "rall")) if kind == "bool" else random.choice(SUMS)
        if kind == "int" and len(over) == 1 and random.random() < 0.3:
            word, kind_below = random.choice(("rargmax", "rargmin")), "float"
        else:
            kind_below = kind
        inner = (*frame, *over)
        part = self._value(inner, kind_below, depth - 1)
        if set(over) - {*part.axes, *part.named}:
            sign = "and" if kind_below == "bool" else "*"
            part = self._together(sign, part, self._new(inner, over, kind_below), inner)
        labels = tuple(v for v in frame if v in (*part.axes, *part.named))
        return _Part(f"{word}({part.text}, {', '.join(over)})", (), labels, kind)

    def _leaf(
        self, frame: tuple[str, ...], kind: str, is_all: bool = False, may_turn: bool = False
    ) -> _Part:
        random = self.random
        if is_all:
            return self._new(frame, frame, kind, may_turn)
        roll = random.random()
        alike = [one for one in self.tensors if one.kind == kind and len(one.labels) <= len(frame)]
        if roll < 0.45 and alike:
            one = random.choice(alike)
            return self._read(one, frame, self._some(frame, len(one.labels)))
        if roll < 0.53:
            return self._number(kind)
        if roll < 0.58 and frame and kind == "int":
            label = random.choice(frame)
            return _Part(label, (), (label,), "int")
        if roll < 0.62 and kind != "bool" and frame:
            return _Part(f"len({random.choice(frame)})", (), (), kind)
        count = min(len(frame), random.choice((1, 1, 2, 2, 2, 3, 4)))
        return self._new(frame, self._some(frame, count), kind)

    def _some(self, frame: tuple[str, ...], count: int) -> tuple[str, ...]:
        chosen = self.random.sample(range(len(frame)), min(count, len(frame)))
        return tuple(frame[at] for at in sorted(chosen))

    def _number(self, kind: str) -> _Part:
        random = self.random
        if kind == "bool":
            return _Part("1 < 2", (), (), kind)
        if kind == "int":
            return _Part(str(random.choice((0, 1, 2, 3, 7, 100))), (), (), kind)
        if random.random() < 0.2:
            if not self.scalars:
                self.scalars.append("alpha")
            return _Part("alpha")
        return _Part(random.choice(("0.5", "2", "1e-6", "3.25", "inf", "-1")))

    def _new(
        self, frame: tuple[str, ...], labels: tuple[str, ...], kind: str, may_turn: bool = False
    ) -> _Part:
        """Return a read of an input that nothing has read before."""
        random = self.random
        count = sum(one.is_input for one in self.tensors)
        name = f"I{count}"
        dtype = {
            "int": random.choice((": i32", ": i32", ": i64", ": i8", ": u8")),
            "bool": ": bool",
        }
        self.inputs[name] = dtype.get(kind) or (
            self.alike if random.random() < 0.9 else random.choice(FLOATS)
        )
        order = [*labels]
        if may_turn and random.random() < 0.5:
            random.shuffle(order)
        one = _Tensor(name, tuple(order), kind, is_input=True)
        self.tensors.append(one)
        return self._read(one, frame, tuple(order), is_new=True)

    def _read(
        self, one: _Tensor, frame: tuple[str, ...], labels: tuple[str, ...], is_new: bool = False
    ) -> _Part:
        """Return a read at these labels: plain, shifted, through a pad, or affine."""
        random = self.random
        if one.labels and set(one.labels) <= set(frame) and (is_new or random.random() < 0.8):
            labels = one.labels
        labels = (*labels, *random.choices(frame or ("x",), k=len(one.labels) - len(labels)))
        labels = labels[: len(one.labels)]
        if any(label not in frame for label in labels):
            return self._number(one.kind)
        indices = [*labels]
        is_padded = bool(labels) and random.random() < 0.12
        is_affine = bool(labels) and one.is_input and random.random() < 0.1
        for at, label in enumerate(labels):
            if is_padded and random.random() < 0.6:
                step = random.choice((-2, -1, 1, 1, 3))
                indices[at] = f"{label} {'-' if step < 0 else '+'} {abs(step)}"
            elif is_affine and random.random() < 0.6:
                other = random.choice([v for v in frame if v != label] or [label])
                indices[at] = random.choice(
                    (f"{label} + {other}", f"2 * {label} + {other}", f"{label} + 1", f"2 * {label}")
                )
                if other == label:
                    indices[at] = f"{label} + 1"
        value = {"float": random.choice(("0", "0", "-inf", "1.5")), "int": "0", "bool": "1 < 0"}
        name = f"pad({one.name}, {value[one.kind]})" if is_padded else one.name
        is_plain = indices == [*labels] and len(set(labels)) == len(labels)
        text = f"{name}[{', '.join(indices)}]"
        found = tuple(v for v in frame if re.search(rf"\b{v}\b", ", ".join(indices)))
        if not is_plain:
            return _Part(text, (), found, one.kind)
        if tuple(found) != labels:  # another order: a reduction by name hides that
            return _Part(text, labels, (), one.kind, is_alone=True)
        return _Part(text, labels, (), one.kind)

    def _call(
        self, word: str, parts: tuple[_Part, ...], frame: tuple[str, ...], kind: str
    ) -> _Part:
        laid, axes, named = self._laid(parts, frame)
        return _Part(f"{word}({', '.join(laid)})", axes, named, kind)

    def _together(self, word: str, one: _Part, two: _Part, frame: tuple[str, ...]) -> _Part:
        (left, right), axes, named = self._laid((one, two), frame)
        kind = "float" if "float" in (one.kind, two.kind) else one.kind
        if word in ("+", "*", "-") and kind == "bool":
            word = "and"
        if word == "and" and (one.kind, two.kind) != ("bool", "bool"):
            word = "*"
        return _Part(f"({left} {word} {right})", axes, named, kind)

    def _laid(
        self, parts: tuple[_Part, ...], frame: tuple[str, ...]
    ) -> tuple[list[str], tuple[str, ...], tuple[str, ...]]:
        """Return the texts, reshaped where their axes do not line up by themselves."""
        alone = [p for p in parts if p.is_alone]
        if alone:
            parts = tuple(self._number(p.kind) if p.is_alone else p for p in parts)
        rows = {p.axes for p in parts if p.axes}
        total = tuple(v for v in frame if any(v in row for row in rows))
        named = tuple(v for v in frame if any(v in p.named for p in parts) and v not in total)
        texts: list[str] = []
        for part in parts:
            if part.axes and part.axes != total[len(total) - len(part.axes) :]:
                mine = {*part.axes, *part.named}
                full = tuple(v for v in frame if v in total or v in part.named)
                laid = ", ".join(v if v in mine else "1" for v in full)
                texts.append(f"reshape({part.text}, {laid})")
                total, named = full, tuple(v for v in named if v not in full)
            else:
                texts.append(part.text)
        return texts, total, named

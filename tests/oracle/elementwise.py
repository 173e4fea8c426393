"""Puts whole numbers, bits, packed inputs and random numbers into definitions of Programs."""

import re
from collections.abc import Callable
from random import Random

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show

DEFINITION = re.compile(r"^(\w+)\[([\w, ]+)\] = (.*);$", re.MULTILINE)
OF_INDICES = ("{} // 2", "{} % 3", "{} >> 1", "{} << 2", "{} & 5", "{} ^ 3", "~{}", "({} | 2)")
OF_FLOATS = ("round({})", "trunc({})")


def with_elementwise(
    random: Random, program: Program, read: Callable[[str], Program | None]
) -> Program | None:
    """Return the Program with some definitions multiplied by such a thing; None if it has none.

    `read` reads a file, and gives None if it has a mistake.
    """
    found: list[str] = []

    def changed(one: re.Match[str]) -> str:
        func, labels, body = one[1], one[2].split(", "), one[3]
        more = random.choice((*OF_INDICES, *OF_FLOATS, "random", "random", "packed", "packed", ""))
        if not more:
            return one[0]
        label = random.choice(labels)
        if more == "random":
            found.append("SIn seed: i64;")
            second = random.choice((*labels, "7"))
            return f"{func}[{one[2]}] = ({body}) * random(seed, {label}, {second});"
        if more == "packed":
            name = f"W{len(found)}"
            found.append(f"In {name}: {random.choice(('i4', 'u4'))} packed {labels[-1]};")
            return f"{func}[{one[2]}] = ({body}) * {name}[{one[2]}];"
        found.append("")
        if more in OF_FLOATS:
            return f"{func}[{one[2]}] = {more.format(f'({body}) * 0.5')};"
        return f"{func}[{one[2]}] = ({body}) * ({more.format(label)});"

    text = DEFINITION.sub(changed, show(program))
    declared = "\n".join(dict.fromkeys(one for one in found if one))
    return read(f"{declared}\n{text}") if found else None

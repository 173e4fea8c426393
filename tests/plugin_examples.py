"""An example of every diagnostic about a user's own primitives: Python that leads to it."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import dtpoly

TOTAL = """\
Func total;
In A;
Var x;
RVar k;

total[x] = rsum(A[x, k], k);
"""


def write_primitive(body: str, name: str = "Turn") -> None:
    """Write turn.py, with a primitive of that body."""
    head = f"@dataclass(frozen=True, slots=True)\nclass {name}(Primitive):\n"
    text = "from dataclasses import dataclass\n\nfrom dtpoly.primitives import Primitive\n\n\n"
    Path("turn.py").write_text(text + head + textwrap.indent(textwrap.dedent(body).strip(), "    "))


def missing() -> None:
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def no_python() -> None:
    Path("turn.py").write_text("class Turn(Primitive)\n    name = 'turn'\n")
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def fails_to_load() -> None:
    Path("turn.py").write_text("WIDTH = int('wide')\n")
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def needs_a_package() -> None:
    Path("turn.py").write_text("import turn_and_turn_again\n")
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def no_primitive() -> None:
    Path("turn.py").write_text("class Turn:\n    def apply(self, state): ...\n")
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def taken() -> None:
    write_primitive("""
        name = "block"

        def apply(self, state):
            return state
    """)
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def no_field() -> None:
    write_primitive("""
        name = "turn"
        loop: str

        def apply(self, state):
            return state
    """)
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def no_apply() -> None:
    write_primitive("name = 'turn'")
    dtpoly.parse(TOTAL, plugins=["turn.py"])


def raises() -> None:
    write_primitive("""
        name = "turn"

        def apply(self, state):
            return state.with_kernels(self.function, lambda kernel: kernel)
    """)
    dtpoly.parse(TOTAL, plugins=["turn.py"]).total.turn().check()


def no_tree() -> None:
    write_primitive("""
        name = "turn"

        def apply(self, state):
            return state.kernels
    """)
    dtpoly.parse(TOTAL, plugins=["turn.py"]).total.turn().check()


def refuses() -> None:
    write_primitive("""
        name = "turn"

        def apply(self, state):
            raise self.refusal("nothing can be turned", hint="wait for another day")
    """)
    dtpoly.parse(TOTAL, plugins=["turn.py"]).total.turn().check()


def no_directive() -> None:
    dtpoly.parse(TOTAL).schedule("total.block(x:4); total[x] = 0;")


CALLS: dict[str, Callable[[], object]] = {
    "DT220": missing,
    "DT221": no_python,
    "DT222": fails_to_load,
    "DT222_package": needs_a_package,
    "DT223": no_primitive,
    "DT224": taken,
    "DT225": no_field,
    "DT225_apply": no_apply,
    "DT226": raises,
    "DT227": no_tree,
    "DT228": refuses,
    "DT229": no_directive,
}

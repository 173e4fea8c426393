"""Gives different loads different names, and equal loads one text, so that they can be moved.

Of two loops that were joined, the main part and the tail often load the same tile, with their tests
in another order; and a loop along a diagonal loads it with one more test, under the same name.
"""

from dataclasses import replace

from dtpoly.ir.kernel import ForLoop, If, Load, Step, TiledLoop
from dtpoly.ir.parts import assigned, renamed
from dtpoly.ir.step_dependences import exposed
from dtpoly.ir.tiled import parts_of, with_parts

from .python_names import fresh

Known = dict[str, dict[str, str]]  # by name: the text of each load, and the name that it has now


def loads_apart(body: tuple[Step, ...], names: set[str]) -> tuple[Step, ...]:
    """Return the body in which a name of a load that is local to its block stands for one load."""
    return _block(body, {}, names, frozenset())


def _block(
    body: tuple[Step, ...], known: Known, names: set[str], live: frozenset[str]
) -> tuple[Step, ...]:
    done = list[Step]()
    rest = tuple(map(_in_order, body))
    while rest:
        step, rest = rest[0], rest[1:]
        one = step.instruction
        if isinstance(one, Load) and one.name not in live and one.name not in assigned(rest):
            texts = known.setdefault(one.name, {})
            name = texts.setdefault(_text(one), one.name if not texts else fresh(one.name, names))
            names.add(name)
            step = replace(step, instruction=replace(one, name=name))
            rest = renamed(rest, {one.name: name})
        elif isinstance(one, ForLoop | If):
            after = live | exposed(rest) | exposed((step,))
            inner = _block(one.body, known, names, after)
            step = replace(step, instruction=replace(one, body=inner))
        elif isinstance(one, TiledLoop):
            after = live | exposed(rest)
            parts = [_block((part,), known, names, after)[0] for part in parts_of(step)]
            step = with_parts(step, *parts)
        done.append(step)
    return tuple(done)


def _in_order(step: Step) -> Step:
    one = step.instruction
    if not isinstance(one, Load):
        return step
    return replace(
        step, instruction=replace(one, conditions=tuple(sorted(one.conditions, key=repr)))
    )


def _text(load: Load) -> str:
    return repr(replace(load, name=""))

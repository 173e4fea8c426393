"""Prints the question whether a tile has an element that may enter a list."""

from dtpoly.ir.kernel import Select

from .operation_spelling import JOIN
from .value_text import value_text


def may_enter(one: Select) -> str:
    """Print whether some element of a tile is not below the least value of its list.

    A NaN is below nothing, and nothing is below a NaN: then the merge itself finds out.
    """
    axis = len(one.axes) - 1
    least = f"tl.reduce({one.name}, {axis}, {JOIN['rmin'][0]})"
    if axis:
        least += f"[{', '.join((*(':' * axis), 'None'))}]"
    value = value_text(one.value, one.axes)[0]
    return f"tl.max((~({value} < {least})).to(tl.int32)) >= 1"

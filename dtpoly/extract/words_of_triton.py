"""Says what a name is that a module has imported from Triton's libraries."""

import re
from collections.abc import Sequence

from dtpoly.extract.module_names import Binding

LANGUAGE = "triton.language"
# Modules in which words of `triton.language` stand, which have the same meaning there.
PARTS = ("triton.language.core", "triton.language.standard")
# Modules of Triton in which the functions of `tl.math` stand, under the same words.
MATH = ("triton.language.math", "triton.language.extra.libdevice")
# What follows the name of a device in `triton.language.extra.cuda.libdevice`.
EXTRA, LIBRARY = "triton.language.extra.", ".libdevice"
# Words that mean the same in these modules, and in `tl.math`.
SAME = frozenset(
    (
        *("abs", "ceil", "cos", "erf", "exp", "exp2", "floor", "fma", "log", "log2"),
        *("rsqrt", "sin", "sqrt"),
    )
)
# Words that only the library of a device has: functions of one float or two that give a float.
OF_LIBRARY = frozenset(
    (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cosh"),
        *("erfc", "erfcinv", "erfinv", "exp10", "expm1", "fmod", "hypot", "lgamma", "log10"),
        *("log1p", "nearbyint", "nextafter", "normcdf", "pow", "remainder", "rint", "round"),
        *("sinh", "tan", "tanh", "tgamma", "trunc", "fast_cosf", "fast_dividef", "fast_exp10f"),
        *("fast_expf", "fast_log10f", "fast_log2f", "fast_logf", "fast_powf", "fast_sinf"),
        "fast_tanf",
    )
)
IN_LIBRARY = re.compile(r"tl\.extra(\.\w+)?\.libdevice")


def is_math(module: str) -> bool:
    """Return whether a module of Triton has functions of mathematics."""
    return module in MATH or (module.startswith(EXTRA) and module.endswith(LIBRARY))


def of_math(word: str) -> str | None:
    """Return how the verifier writes a function of mathematics; None for one that it has not."""
    if word in OF_LIBRARY:
        return f"tl.extra.libdevice.{word}"
    return f"tl.math.{word}" if word in SAME else None


def written(text: str) -> str | None:
    """Return how the verifier writes what a module reaches by words with dots between them."""
    module, _, word = text.rpartition(".")
    if module == "tl.math" or IN_LIBRARY.fullmatch(module):
        return of_math(word)
    return text if module == "tl" else None


def meaning_of(bindings: Sequence[Binding]) -> str | None:
    """Return how the verifier writes what a name was imported as; None if it is not known.

    A name may be imported in several places, such as the branches of a test of Triton's version, if
    it means the same in all of them.
    """
    found = {_meaning(one) for one in bindings}
    return found.pop() if len(found) == 1 else None


def _meaning(binding: Binding) -> str | None:
    module, word = binding.module, binding.word
    if module is None:
        return None
    whole = f"{module}.{word}" if word else module
    if whole in ("triton", "torch"):
        return whole
    if whole in (LANGUAGE, *PARTS):
        return "tl"
    if is_math(whole):
        return "tl.math"
    if is_math(module):
        return of_math(word)
    if module in (LANGUAGE, *PARTS):
        return f"tl.{word}"
    return f"triton.{word}" if module == "triton" else None

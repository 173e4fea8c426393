"""Makes a Python module of a generated text, with a source that tools can show."""

import contextlib
import linecache
import sys
from pathlib import Path
from types import ModuleType

from dtpoly.runtime.cache import MODULES, keep, key, private_folder, read_own


def load_module(text: str, name: str, target: str = "") -> ModuleType:
    """Return the module of a generated text; the same for the same text, name and target.

    What runs is the text that is given, never what lies in the cache. The file there is for
    whoever wants to see the source: Triton, tracebacks, debuggers.
    """
    number = key([text, name, target])
    full_name = f"dtpoly_generated_{name}_{number[:16]}"
    known = sys.modules.get(full_name)
    if known is not None:
        return known
    path = _shown(text, name, number)
    module = ModuleType(full_name)
    module.__file__ = path
    exec(compile(text, path, "exec"), module.__dict__)
    return sys.modules.setdefault(full_name, module)


def _shown(text: str, name: str, number: str) -> str:
    """Return the path of a file that holds the text; if there can be none, a name that says so."""
    base = private_folder()
    if base is not None:
        path = base / MODULES / number / f"{name}.py"
        if _holds(path, text) or (keep(path, text) and _holds(path, text)):
            return str(path)
    shown = f"<generated {name} {number[:16]}>"
    # Without a time of change, it is never taken for outdated.
    linecache.cache[shown] = (len(text), None, text.splitlines(keepends=True), shown)
    return shown


def _holds(path: Path, text: str) -> bool:
    with contextlib.suppress(OSError):
        return read_own(path) == text.encode(errors="surrogatepass")
    return False

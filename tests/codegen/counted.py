"""The command of modules that try random cases: it counts what became of each, and records that."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.codegen.running import forget


def record(module: str, cases: str, what: str, tried: Callable[[int], Iterable[str]]) -> None:
    """Try the cases of a range of seeds, and write how many there are of each kind.

    The command line names the first seed, the one behind the last, and the file. `tried` returns
    the words that are counted, `cases` is what the record calls them.
    """
    first, last, path = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    found = Counter[str]()
    for seed in range(first, last):
        found.update(tried(seed))
        forget()
    told = {
        "what": what,
        "command": f"python -m {module} {first} {last} FILE",
        cases: last - first,
        "outcomes": dict(found.most_common()),
    }
    path.write_text(f"{json.dumps(told, indent=1)}\n")

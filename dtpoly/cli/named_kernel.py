"""Finds the kernel that a .dt file says it is about, in a line `# kernel: FILE::NAME`.

The path counts from the folder of the .dt file. With the line, `dtpoly verify FILE` needs no
`--kernel`.
"""

import os
import re
from pathlib import Path

from dtpoly.cli.taken_kernel import SEPARATOR

LINE = re.compile(r"^#\s*kernel\s*:\s*(\S.*?)\s*$", re.MULTILINE)


def kernel_named_in(text: str, file: Path) -> str | None:
    """Return the kernel of a .dt file, as `--kernel` takes it, or None if the file names none."""
    found = LINE.search(text)
    if found is None:
        return None
    path, separator, name = found[1].partition(SEPARATOR)
    return f"{os.path.normpath(file.parent / path)}{separator}{name}"


def line_for(kernel: str, file: Path) -> str:
    """Return the line for a kernel in a .dt file that will stand there."""
    path, separator, name = kernel.partition(SEPARATOR)
    relative = os.path.relpath(path, file.parent)
    return f"# kernel: {Path(relative).as_posix()}{separator}{name}"

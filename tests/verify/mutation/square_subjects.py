"""Programs whose tiles are square, so that no shape tells two axes or two values apart."""

import re
from functools import cache
from pathlib import Path

import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.inputs import Inputs
from tests.codegen.parted_programs import PARTED
from tests.verify.mutation.judging import Subject

ROOT = Path(__file__).parent.parent.parent.parent
SIDE = 4
PARTS = 8  # elements of a part, which has two tiles
# Files of which copies get square tiles. A label that is a lane as a whole has the fixed size.
EXAMPLES = (
    *("softmax", "online_softmax", "log_sum_exp", "safe_softmax", "softmax_pool"),
    *("flash_attention", "causal_flash_attention", "flash_decoding", "softmax_entropy"),
    *("layer_norm", "wide_layer_norm", "rms_norm", "cross_entropy", "long_cumsum"),
    *(f"attentions/{one.stem}" for one in sorted((ROOT / "examples/attentions").glob("*.dt"))),
)
PACKAGED = ("cross_entropy", "layer_norm", "softmax", "causal_attention")
Value = torch.Tensor | int | float | bool
WORD = re.compile(r"(\w+):(p/)?(\d+)")


def square(text: str) -> str:
    """Return the text of a file with equal tiles: each block and each step has SIDE elements."""
    lines = (
        WORD.sub(_squared, line) if re.match(r"\s*\w+\.(block|tensorize)\(", line) else line
        for line in text.split("\n")
    )
    return "\n".join(lines)


def _squared(found: re.Match[str]) -> str:
    label, parts, number = found.groups()
    if parts:
        return f"{label}:p/{PARTS}"
    # A leading label, such as that of batches, keeps its one element.
    is_kept = number == "0" or (number == "1" and label in ("b", "h"))
    return f"{label}:{number if is_kept else SIDE}"


def texts() -> dict[str, str]:
    """Return the text of each subject by its name."""
    found = {f"examples/{one}": ROOT / f"examples/{one}.dt" for one in EXAMPLES}
    found |= {f"nn/{one}": ROOT / f"dtpoly/nn/{one}.dt" for one in PACKAGED}
    made = {name: square(read_file(str(path)).text) for name, path in found.items()}
    made |= {f"parts/{name}": _of_parts(text) for name, text in PARTED.items()}
    return made


def _of_parts(text: str) -> str:
    text = re.sub(r"\b(x|y|p|n|k):(\d+)", lambda one: _squared_part(*one.groups()), text)
    return text.replace("p/32", f"p/{PARTS}")


def _squared_part(label: str, number: str) -> str:
    return f"{label}:{number if number == '0' else SIDE}"


@cache
def square_subject(name: str) -> Subject:
    """Return a subject with its emitted text."""
    program = load(Source("square.dt", texts()[name]))
    code = code_of(judge(program, DIRECTIVES).scheduled)
    return Subject(program, code.stages.outputs, code.text)


def others(inputs: Inputs) -> list[Inputs]:
    """Return the same inputs with data that show lost frames: one row far above, below, or -inf."""

    def changed(value: Value, how: str) -> Value:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.dim():
            return value
        made = value.clone()
        rows = torch.arange(made.shape[0]).reshape(-1, *[1] * (made.dim() - 1))
        lanes = torch.arange(made.shape[-1])
        match how:
            case "rows":
                return made + 300.0 * (rows % 3 - 1)
            case "lanes":
                return made + 200.0 * (lanes % 5 == 1)
            case "large":
                return made * 60
            case _:
                made[..., lanes % 3 == 1] = -torch.inf
                return made

    kinds = ("rows", "lanes", "large", "infinite")
    return [{name: changed(one, how) for name, one in inputs.items()} for how in kinds]

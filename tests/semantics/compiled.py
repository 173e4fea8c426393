"""Finds by Triton's own compiler the result type and the instructions of each entry, from TTIR.

No GPU is needed: the text of a kernel is taken as far as Triton's first representation of it. Run
it as `python -m tests.semantics.compiled FILE` with any Triton; FILE becomes what it says, as JSON.
`python -m tests.semantics.compiled FILE 3 20` asks about a part of twenty, number 3 from 0 on.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dtpoly.verify.semantics.table_operations import BY_NAME, OPERATIONS, TableOperation
from dtpoly.verify.semantics.types import CONSTANTS, REFUSED

# Triton has no types to check against.
triton: Any = importlib.import_module("triton")
compiler: Any = importlib.import_module("triton.compiler.compiler")
backends: Any = importlib.import_module("triton.backends.compiler")
ir: Any = importlib.import_module("triton._C.libtriton").ir
language: Any = importlib.import_module("triton.language")
core: Any = importlib.import_module("triton.language.core")

Entry = tuple[str, tuple[str, ...]]
WRITTEN = {"bool": "True", "int": "2", "float": "1.5", "long": "-1099511627776", "double": "1e-300"}
# The names of Triton's types in signatures of kernels.
NAMED = {
    "tl.int1": "i1",
    **{f"tl.int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"tl.uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    "tl.float8e4nv": "fp8e4nv",
    "tl.float8e5": "fp8e5",
    "tl.float16": "fp16",
    "tl.bfloat16": "bf16",
    "tl.float32": "fp32",
    "tl.float64": "fp64",
}
OF_TRITON = {
    **{short: name for name, short in NAMED.items()},
    "int1": "tl.int1",
    "void": "none",
    **{f"int{n}": f"tl.int{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"tl.uint{n}" for n in (8, 16, 32, 64)},
}
HEAD = """\
import triton
import triton.language as tl
from triton.language import core

SEEN = []


@core.builtin
def observe(value, _semantic=None):
    SEEN.append(value)


@triton.jit
def added(a, b):
    return a + b

"""
# These instructions move values, or make constants.
SILENT = (
    *("tt.return", "tt.splat", "tt.call", "tt.func", "ub.poison", "tt.reduce.return"),
    *("arith.constant", "tt.make_range", "tt.scan.return", "tt.broadcast", "tt.expand_dims"),
)
_LINE = re.compile(r"^\s*(?:%[\w, :%#]+ = )?\"?([a-z_]+\.[a-z_.0-9]+)\"?(.*)$")
_ELEMENT = re.compile(r"tensor<(?:\d+x)*([^<>]+)>|: (\w+)$")


# The comparison, or the atomic operation, that belongs to the name of an instruction.
_KIND = re.compile(r" ([a-z]+), [%a-z]")


def name_of(operation: TableOperation, pattern: Sequence[str]) -> str:
    """Return the name of the kernel of an operation with constants at some places."""
    return f"k_{operation.name.replace(' ', '_')}_{'_'.join(pattern)}"


def pattern_of(operation: TableOperation, operands: Sequence[str]) -> tuple[str, ...]:
    """Return what decides about the text: the places of constants, and which constants they are."""
    return tuple(
        one if one in CONSTANTS else kind.replace(" ", "")
        for kind, one in zip(operation.kinds, operands, strict=True)
    )


def text_of(operation: TableOperation, pattern: Sequence[str]) -> str:
    """Return a kernel of one operation."""
    parameters: list[str] = []
    lines: list[str] = []
    places: list[str] = []
    for at, one in enumerate(pattern):
        if one in CONSTANTS:
            places.append(WRITTEN[one])
        elif one.endswith("type"):
            parameters.append(f"t{at}: tl.constexpr")
            places.append(f"t{at}")
        else:
            parameters.append(f"p{at}")
            lanes = "tl.arange(0, 16)"
            if one == "matrix":
                lanes = "(tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])"
            lines.append(f"    a{at} = p{at} + {lanes}\n")
            if one != "address":
                lines.append(f"    v{at} = tl.load(a{at})\n")
            places.append(f"{'a' if one == 'address' else 'v'}{at}")
    lines.append("    mask = tl.arange(0, 16) < 8\n")
    body = "".join(lines)
    *before, asked = operation.text.format(*places).split("; ")
    asked_before = "".join(f"    {one}\n" for one in before)
    return (
        f"@triton.jit\ndef {name_of(operation, pattern)}({', '.join(parameters)}):\n{body}"
        f"    tl.debug_barrier()\n{asked_before}    observe({asked})\n\n\n"
    )


class Asked:
    """Triton, which is asked about entries for one target."""

    def __init__(self, folder: Path, arch: int = 90) -> None:
        self.target = backends.GPUTarget("cuda", arch, 32)
        self.backend = compiler.make_backend(self.target)
        # Otherwise whole numbers come with instructions that only check for overflow.
        self.options = self.backend.parse_options({"sanitize_overflow": False})
        self.generated = self.backend.get_codegen_implementation(self.options)
        patterns = {
            (one.name, pattern_of(one, operands)): None
            for one in OPERATIONS
            for operands in one.operands()
        }
        texts = [text_of(BY_NAME[name], pattern) for name, pattern in patterns]
        path = folder / f"asked_{arch}.py"
        path.write_text(HEAD + "\n" + "".join(texts))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        self.module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def ask(self, operation: TableOperation, operands: Sequence[str]) -> tuple[str, str]:
        """Return the type of the result and the instructions, or why Triton refuses the entry."""
        pattern = pattern_of(operation, operands)
        function = getattr(self.module, name_of(operation, pattern))
        signature: dict[str, str] = {}
        constants: dict[tuple[int], Any] = {}
        for at, (kind, one) in enumerate(zip(pattern, operands, strict=True)):
            if kind in CONSTANTS:
                continue
            if kind.endswith("type"):
                constants[(len(signature),)] = getattr(language, one.removeprefix("tl."))
                signature[f"t{at}"] = "constexpr"
            else:
                signature[f"p{at}"] = f"*{NAMED[one]}"
        source = compiler.ASTSource(function, signature, constants, {})
        context = ir.context()
        ir.load_dialects(context)
        self.backend.load_dialects(context)
        self.module.SEEN.clear()
        maps = self.backend.get_module_map()
        try:
            made = source.make_ir(self.target, self.options, self.generated, maps, context)
        except Exception as error:
            return REFUSED, told(error)
        (value,) = self.module.SEEN
        return type_of(value), "; ".join(instructions(str(made)))


def told(error: Exception) -> str:
    """Return the reason why Triton refused it."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return str(getattr(cause, "error_message", None) or cause or type(cause).__name__)[:160]


def type_of(value: Any) -> str:
    """Return the type of a result, in the words of the table."""
    if value is None:
        return "none"
    value = getattr(value, "value", value)
    if isinstance(value, int) and not -(2**31) <= value < 2**32:
        return "long"
    if isinstance(value, float) and abs(value) < 2.0**-126 and value:
        return "double"
    if isinstance(value, bool | int | float):
        return type(value).__name__
    if value is None:
        return "none"
    return OF_TRITON[str(value.dtype)]


def instructions(text: str) -> list[str]:
    """Return the instructions behind the barrier, each with the types of its elements."""
    found: list[str] = []
    seen = False
    in_other = False
    for line in text.split("\n"):
        line = re.sub(r" loc\(.*", "", line).rstrip()
        if "tt.func" in line and seen:
            in_other = True
        match = _LINE.match(line)
        if match is None:
            continue
        word, rest = match[1], match[2]
        if "barrier" in word:
            seen = True
        elif (seen or in_other) and word not in SILENT:
            types = [a or b for a, b in _ELEMENT.findall(rest)]
            kind = _KIND.match(rest)
            words = (word, kind[1]) if kind is not None else (word,)
            found.append(" ".join((*words, *dict.fromkeys(types))))
    return found


Answers = dict[str, tuple[str, str]]


def asked_in_child(
    asked: Asked, operation: TableOperation, every: Sequence[tuple[str, ...]]
) -> Answers:
    """Ask Triton about some entries, in a process of its own, because Triton may abort."""
    found: Answers = {}
    left = list(every)
    while left:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 2)
            with os.fdopen(writing, "w") as out:
                for operands in left:
                    out.write(json.dumps(asked.ask(operation, operands)) + "\n")
                    out.flush()
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answers:
            said = [tuple(json.loads(line)) for line in answers]
        os.waitpid(child, 0)
        if len(said) < len(left):
            said.append((REFUSED, "it aborts"))
        for operands, (result, why) in zip(left, said, strict=False):
            found[" ".join(operands)] = (result, why)
        left = left[len(said) :]
    return found


def main(path: str, part: int = 0, parts: int = 1, names: Iterable[str] = ()) -> None:
    """Ask about all entries of all operations or of some, or about one part of them."""
    warnings.simplefilter("ignore")
    result: dict[str, Answers] = {}
    chosen = [one for one in OPERATIONS if not names or one.name in names]
    with tempfile.TemporaryDirectory() as folder:
        asked = Asked(Path(folder))
        for operation in chosen:
            every = [*operation.operands()][part::parts]
            result[operation.name] = asked_in_child(asked, operation, every)
    said: Mapping[str, object] = {"triton": triton.__version__, "entries": result}
    Path(path).write_text(json.dumps(said, indent=0))


if __name__ == "__main__":
    number, count = (int(one) for one in (sys.argv[2:4] or ("0", "1")))
    main(sys.argv[1], number, count, sys.argv[4:])

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Counts the lines by hand that kernels of other projects need after `dtpoly verify --init`.

`python -m tests.framed_kernels FOLDER [WORD] [--against] [-v]` takes each kernel of
`tests/data/public_kernels.txt`. Its launches are those of the lines that were written for it by
hand, at several sizes: tensors are made as its algorithm reads them, and each argument is computed.
Only these numbers go into the record, and none of the text; of names that the module does not show,
a watch would see what they are, and here the line by hand says it. Then the frame is found without
an algorithm, or for the one that `tests/data/framed_against.txt` names, and how its proof ends is
printed.
"""

import ast
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dtpoly.cli.init_against import frame_against
from dtpoly.cli.init_frame import groups_of, names_of, prover
from dtpoly.diagnostics import DtpolyError
from dtpoly.extract.meanings import Helper, meaning
from dtpoly.extract.python_modules import read_module
from dtpoly.framing.frame_arguments import CannotFrame
from dtpoly.framing.frame_search import found_frame, search_time
from dtpoly.framing.kernel_frame import text_of
from dtpoly.frontend.reading import read_file
from dtpoly.frozen import dataclass
from dtpoly.watching.launch_record import Given, WatchedLaunch, WatchedTensor, WatchedWord
from tests.public_kernels import PublicKernel, public_kernels
from tests.verify.texts import ROOT

PRIMES = (
    (131, 67, 37, 17, 11, 7),
    (257, 101, 71, 31, 13, 5),
    (1031, 149, 139, 67, 29, 3),
)
DTYPES = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "bool": "bool",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}
SECONDS = 60.0  # for the search of one frame
AGAINST = ROOT / "tests/data/framed_against.txt"


@dataclass(frozen=True, slots=True)
class MadeTensor:
    """A tensor of a launch, with what the lines ask of it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    storage: int

    def stride(self, axis: int) -> int:
        """Return the stride of an axis of a contiguous tensor."""
        product = 1
        for size in self.shape[axis + 1 :]:
            product *= size
        return product

    def watched(self) -> WatchedTensor:
        """Return what a watch would keep of it."""
        strides = tuple(map(self.stride, range(len(self.shape))))
        return WatchedTensor(self.shape, strides, DTYPES[self.dtype], self.storage, 0)


def launches_of(kernel: PublicKernel, path: Path) -> Iterator[WatchedLaunch]:
    """Yield launches of a kernel at several sizes, from the lines that were written by hand."""
    text = kernel.algorithm
    line = re.findall(r"^# verify: (.*)$", text, re.MULTILINE)
    assert len(line) == 1, "several launches"
    call = ast.parse(line[0], mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Subscript)
    parameters = _parameters(path, ast.unparse(call.func.value))
    promises = " ".join(re.findall(r"^# assume: (.*)$", text, re.MULTILINE))
    for primes in PRIMES:
        sizes = _sizes(text, promises, primes)
        known = _known(text, promises, sizes)
        values = [_value(one, known) for one in call.args]
        given = dict(zip(parameters, values, strict=False))
        given |= {str(one.arg): _value(one.value, known) for one in call.keywords}
        given = {**{k: v for k, v in parameters.items() if k not in given}, **given}
        ordered = {one: given[one] for one in parameters}
        grid = _value(call.func.slice, known)
        assert all(one is not Ellipsis for one in ordered.values())
        yield WatchedLaunch(
            str(path),
            ast.unparse(call.func.value),
            grid if isinstance(grid, tuple) else (grid,),
            {one: _given(value) for one, value in ordered.items()},
            tuple(one for one, (_, is_constant) in _signature(path, call).items() if is_constant),
            {},
            dict(re.findall(r"(\w+) = ([^,\n]+)", " ".join(re.findall(r"# name: (.*)", text)))),
        )


def _signature(path: Path, call: ast.Call) -> dict[str, tuple[Any, bool]]:
    assert isinstance(call.func, ast.Subscript)
    found = meaning(read_module(read_file(str(path))), ast.unparse(call.func.value))
    assert isinstance(found, Helper), found
    arguments = found.function.args
    defaults: dict[str, Any] = dict.fromkeys([one.arg for one in arguments.args], ...)
    for one, default in zip(reversed(arguments.args), reversed(arguments.defaults), strict=False):
        if isinstance(default, ast.Constant):
            defaults[one.arg] = default.value
    return {
        one.arg: (
            defaults[one.arg],
            one.annotation is not None and ast.unparse(one.annotation).endswith("constexpr"),
        )
        for one in arguments.args
    }


def _parameters(path: Path, name: str) -> dict[str, Any]:
    call = ast.parse(f"{name}[(1,)]()", mode="eval").body
    assert isinstance(call, ast.Call)
    return {one: default for one, (default, _) in _signature(path, call).items()}


def _sizes(text: str, promises: str, primes: Sequence[int]) -> dict[str, int]:
    """Return sizes of the labels that keep the promises."""
    sizes: dict[str, int] = {}
    for declared in re.findall(r"\bR?Var ([^;]*);", text):
        for one in declared.split(","):
            label, _, size = (part.strip() for part in one.partition(":"))
            if size.isdecimal():
                sizes[label] = int(size)
            else:
                sizes[label.split()[0]] = 0
    rest = iter(primes)
    for label, size in sizes.items():
        if not size:
            sizes[label] = next(rest)
            for of in re.findall(rf"len\({label}\) % (\d+) == 0", promises):
                sizes[label] *= int(of)
    for label, by, other in re.findall(r"cdiv\(len\((\w+)\), (\d+)\) == len\((\w+)\)", promises):
        sizes[other] = -(-sizes[label] // int(by))
    for label in re.findall(r"within len\((\w+)\)", text):
        sizes.setdefault(label, primes[-1])
    return sizes


def _known(text: str, promises: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return what the words of a line mean."""
    known: dict[str, Any] = {
        "cdiv": lambda a, b: -(-a // b),
        "next_power_of_2": lambda a: 1 << max(a - 1, 0).bit_length(),
        "any": 5,
        "sizes": sizes,
        "min": min,
        "max": max,
    }
    declared: dict[str, tuple[str, str]] = {}
    for kind, names in re.findall(r"\b(Func|In|SIn) ([^;]*);", text):
        for one in names.split(","):
            head = one.partition("within")[0].partition("into")[0]
            name, _, dtype = (part.strip() for part in head.partition(":"))
            declared[name] = (kind, dtype or "f32")
    axes = _axes(text, sizes, declared)
    for one, axis, size in re.findall(
        r"(\w+)\.shape\[(\d+)\] == ([^,\n]*(?:\([^)]*\))?[^,\n]*)", promises
    ):
        axes[one][int(axis)] = int(eval(_spelled(size), {**known, "sizes": sizes}))
    for at, (name, (kind, dtype)) in enumerate(declared.items()):
        if kind == "SIn":
            known[name] = 0.37 if dtype.startswith("f") else 12345
        elif name in axes:
            shape = tuple(size or 1 for size in axes[name])
            known[name] = MadeTensor(name, dtype, shape, at)
    return known


def _axes(text: str, sizes: Mapping[str, int], declared: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the sizes of axes, from where the algorithm reads and defines tensors."""
    body = re.sub(r"#.*|\b(?:Func|In|SIn|R?Var) [^;]*;", "", text)
    found: dict[str, list[int]] = {}
    for statement in body.split(";"):
        left, equals, right = statement.partition("=")
        if not equals:
            continue
        for part in (left, right):
            for node in ast.walk(ast.parse(part.strip(), mode="eval")):
                if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                    name = node.value.id
                    where = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                    here = found.setdefault(name, [0] * len(where))
                    for at, one in enumerate(where):
                        here[at] = max(here[at], _end(one, sizes, text))
    return found


def _end(node: ast.expr, sizes: Mapping[str, int], text: str) -> int:
    match node:
        case ast.Name(id=label):
            return sizes[label]
        case ast.Constant(value=int() as at):
            return at + 1
        case ast.Subscript(value=ast.Name(id=index)):
            within = re.search(rf"\b{index}: \w+ within len\((\w+)\)", text)
            assert within is not None
            return sizes[within[1]]
        case _:
            raise AssertionError(ast.unparse(node))


def _spelled(text: str) -> str:
    return re.sub(r"\blen\((\w+)\)", r"sizes['\1']", text)


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    text = _spelled(ast.unparse(node))
    if isinstance(node, ast.Attribute):
        return WatchedWord("type", node.attr)
    return eval(text, {**known, "True": True})


def _given(value: Any) -> Given:
    match value:
        case MadeTensor():
            return value.watched()
        case str():
            return WatchedWord("text", value)
        case WatchedWord() | bool() | int() | float() | None:
            return value
        case _:
            raise AssertionError(value)


def framed(kernel: PublicKernel, folder: Path, against: str) -> tuple[str, str]:
    """Return how the proof of the frame of a kernel ends, and the frame."""
    path = folder / kernel.project.replace("/", "+") / kernel.kernel.partition("::")[0]
    launches = list(launches_of(kernel, path))
    where = f"{path}::{kernel.kernel.partition('::')[2]}"
    trials: list[DtpolyError] = []
    ((group, choices), *_) = groups_of(launches, read_module(read_file(str(path))))
    names = names_of(read_module(read_file(str(path))), launches[0])
    if against:
        one = frame_against(where, group, against, search_time(SECONDS), names, trials)
        assert not isinstance(one, CannotFrame)
        return one.end, text_of(one.frame)
    found = found_frame(
        group,
        choices,
        prover(where, trials),
        search_time(SECONDS),
        lambda frame: replace(frame, names=names),
    )
    if isinstance(found, CannotFrame):
        return f"none: {found.why}", ""
    more = f", {trials[0].diagnostics[0].title}" if trials else ""
    return f"{found.end}{more}", text_of(found.frame)


def main() -> int:
    """Show how the proof of each frame ends."""
    folder, word = Path(sys.argv[1]), "".join(sys.argv[2:3])
    named = [line.split() for line in AGAINST.read_text().splitlines() if line[:1] != "#"]
    algorithms = dict(zip(map(" ".join, (line[:-1] for line in named)), named, strict=True))
    for one in public_kernels():
        against = ""
        if "--against" in sys.argv:
            found = algorithms.get(f"{one.project} {one.kernel}")
            if found is None:
                continue
            against = found[-1]
        if word not in f"{one.project} {one.kernel}":
            continue
        began = time.monotonic()
        text = ""
        try:
            end, text = framed(one, folder, against)
        except (AssertionError, StopIteration, KeyError, NameError, DtpolyError) as error:
            end = f"no launch: {type(error).__name__} {error}"
        print(
            f"{one.project} {one.kernel} [{one.verdict}]: {end} {time.monotonic() - began:.1f} s",
            flush=True,
        )
        if "-v" in sys.argv:
            print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Chooses names in the generated Python for those of the source: predictable, and never clashing.

A name stays as it is unless Python, Triton or the generated file needs it; then it gets an
underscore. The lists are written out, so that the text does not depend on who generates it.
"""

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence

from dtpoly.algorithm.program import Program, touched
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Pointer

BUILTINS = frozenset(
    [
        "abs",
        "aiter",
        "all",
        "anext",
        "any",
        "ascii",
        "bin",
        "bool",
        "breakpoint",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "classmethod",
        "compile",
        "complex",
        "copyright",
        "credits",
        "delattr",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "eval",
        "exec",
        "exit",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "globals",
        "hasattr",
        "hash",
        "help",
        "hex",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "license",
        "list",
        "locals",
        "map",
        "max",
        "memoryview",
        "min",
        "next",
        "object",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "quit",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
        "ImportError",
        "RuntimeError",
        "TypeError",
        "ValueError",
    ]
)
# What the runtime and a test import; a file must not give these names to anything else.
MODULES = frozenset(
    [
        *("Any", "ast", "contextlib", "functools", "hashlib", "inspect", "itertools", "linecache"),
        *("operator", "re", "sys", "threading", "tl", "torch", "triton"),
    ]
)
PYTHON = frozenset(keyword.kwlist) | {"_"} | BUILTINS | MODULES
# Names that a kernel, its launch and Triton's compiler need.
LAUNCH = frozenset(
    [
        "debug",
        "device",
        "grid",
        "launch_cooperative_grid",
        "launch_pdl",
        "maxnreg",
        "num_ctas",
        "num_stages",
        "num_warps",
        "stream",
        "warmup",
    ]
)
KERNEL = PYTHON | LAUNCH | {"before", "offset", "pid", "program"}
# The words that stand for dtypes in a plan, where names of inputs do, too.
DTYPES = frozenset(
    ["bf16", "bool", "f16", "f32", "f64", "f8e4m3", "f8e5m2", "i16", "i32", "i64", "i8", "u8"]
)
# Names that a plan and its function use besides those of the source.
PLAN = PYTHON | DTYPES | {"out"}

# `dt_` begins what the file defines, and these end what a kernel's parameters are called.
OWN = re.compile(r"dt_.*|__.*__|.*_ptr|.*_stride_[0-9]+|.*_dtype")


def plain(name: str) -> str:
    """Return a name of the compiler's as an identifier: `f.k.2@g` becomes `f_k_2_g`."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def address(variable: str) -> str:
    """Return the parameter for a tensor's address, by the tensor's variable."""
    return f"{variable}_ptr"


def stride(variable: str, axis: int) -> str:
    """Return the parameter for one stride of a tensor."""
    return f"{variable}_stride_{axis}"


def pointer(tensor: Pointer) -> str:
    """Return the parameter for the address of a tensor."""
    return address(tensor.variable)


def strides(tensor: Pointer) -> tuple[str, ...]:
    """Return the parameters for its strides."""
    return tuple(stride(tensor.variable, axis) for axis in range(tensor.rank))


def fresh(wish: str, taken: Iterable[str], reserved: frozenset[str] = KERNEL) -> str:
    """Return the name wished for, or the first of `wish_2`, `wish_3`, ... that is free.

    A word that is reserved gets an underscore first.
    """
    used = reserved.union(taken)
    wish = plain(wish)
    if is_reserved(wish, reserved):
        wish = f"{wish}_"
    name, number = wish, 2
    while name in used:
        name, number = f"{wish}_{number}", number + 1
    return name


def is_reserved(name: str, reserved: frozenset[str] = KERNEL) -> bool:
    """Return whether Python, Triton or the generated file needs the name."""
    return name in reserved or OWN.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class FileNames:
    """The names that the source's names have in the file, outside of kernels."""

    inputs: Mapping[str, str]
    funcs: Mapping[str, str]
    labels: Mapping[str, str]  # keywords of sizes
    kernels: tuple[str, ...]  # without `_kernel`, in order
    pairs: tuple[str, ...]  # what is launched for two of them
    launches: Mapping[str, str]  # what launches each of them

    @property
    def taken(self) -> frozenset[str]:
        """Return all names that the file and the signatures of its functions use."""
        kernels = (f"{name}_kernel" for name in (*self.kernels, *self.pairs))
        names = (self.inputs, self.funcs, self.labels, self.launches)
        return frozenset((*kernels, *(name for one in names for name in one.values())))


def takes_device(program: Program) -> bool:
    """Return whether no tensor that is read says where to compute, so that the caller must."""
    inputs = {one.name for one in program.tensors}
    return not any(read.tensor in inputs for func in program.funcs for read in touched(func))


def file_names(
    program: Program, outputs: Sequence[str], kernels: Sequence[str], pairs: Sequence[str] = ()
) -> FileNames:
    """Choose names of inputs, functions, sizes and kernels; keep those that need not change."""
    sources = [
        *(one.name for one in program.inputs),
        *outputs,
        *(label.name for label in program.labels),
    ]
    reserved = PLAN | {"device"} if takes_device(program) else PLAN
    names = {name: name for name in sources if not is_reserved(name, reserved)}
    for name in sources:
        if name not in names:
            names[name] = fresh(name, names.values(), reserved)
    taken = set(names.values())
    made: list[str] = []
    for kernel in (*kernels, *pairs):
        name, number = plain(kernel), 2
        while f"{name}_kernel" in taken:
            name, number = f"{plain(kernel)}_{number}", number + 1
        taken.add(f"{name}_kernel")
        made.append(name)
    launches: dict[str, str] = {}
    for kernel in made:
        launches[kernel] = fresh(f"{kernel}_launch", taken, PLAN)
        taken.add(launches[kernel])
    return FileNames(
        {one.name: names[one.name] for one in program.inputs},
        {func: names[func] for func in outputs},
        {label.name: names[label.name] for label in program.labels},
        tuple(made[: len(kernels)]),
        tuple(made[len(kernels) :]),
        launches,
    )

"""List the words that a unit may use without defining them: modules, builtins and attributes.

If a word is missing here, a unit that uses it stays unread, and nothing worse happens. Add a word
when the verifier has learnt what it means, or when it surely means nothing to a proof.
"""

import builtins

# What kernels, the test of a file and the runtime that it carries may import; the runtime imports
# more (see verify/plan/runtime).
IMPORTS = (
    *("import hashlib", "import linecache", "import sys", "import threading"),
    *("import torch", "import triton"),
    *("import triton.language as tl", "import triton.tools.tensor_descriptor"),
)
# These names are read as Python and Triton mean them. A tensor with such a name has another name in
# the file, because the file uses the modules with a dot.
MODULES = frozenset({"hashlib", "linecache", "sys", "threading", "torch", "triton", "tl"})
# No unit may give one of these names to something else.
FIXED = frozenset(dir(builtins)) | MODULES
# Builtins of Python that mean nothing to Triton, and that no kernel may use: a function may have
# names of its own that are called so.
PLAIN_BUILTINS = frozenset(
    (
        *("abs", "all", "any", "bin", "dir", "filter", "format", "hash", "id", "input", "iter"),
        *("map", "next", "object", "pow", "round", "slice", "sorted", "sum", "type", "vars"),
    )
)
# Triton's interpreter adds these names to the text of a kernel, and looks them up there or in the
# module.
INTERPRETER = frozenset({"interpreter_semantic", "_InterpreterComparison"})

# The builtins of Python that kernels, and functions of Python, may use. None of them can reach a
# module, run a text, or change what a name means.
BUILTINS_OF_KERNELS = frozenset({"float", "max", "min", "range"})
BUILTINS = frozenset(
    (
        *("abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "isinstance", "len"),
        *("list", "max", "min", "print", "range", "reversed", "round", "set", "sorted", "str"),
        *("sum", "tuple", "zip", "AssertionError", "IndexError", "NotImplementedError"),
        *("RuntimeError", "TypeError", "ValueError"),
    )
)

TYPES = (
    *("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float8e4nv", "float8e5", "float16", "bfloat16", "float32", "float64"),
)
MATH = (
    *("abs", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "fdiv", "floor", "fma"),
    *("log", "log2", "rsqrt", "sin", "sqrt", "sqrt_rn"),
)
ELEMENTWISE = (*MATH, "cdiv", "clamp", "maximum", "minimum", "sigmoid", "where")
SHAPES = (
    *("arange", "associative_scan", "broadcast", "broadcast_to", "cast", "cumprod", "cumsum"),
    *("dot", "expand_dims", "flip", "full", "interleave", "join", "max", "min"),
    *("permute", "reduce", "reshape", "sort", "split", "sum", "trans", "zeros", "zeros_like"),
    *("argmax", "argmin", "gather", "histogram", "inline_asm_elementwise", "rand", "randn"),
)
MEMORY = (
    *("atomic_add", "atomic_max", "atomic_min", "debug_barrier", "load", "store"),
    *("atomic_and", "atomic_or", "atomic_xchg", "atomic_xor", "make_tensor_descriptor"),
)
# Words that Triton 3.6 to 3.8 have, and 3.9 has not: a proof says that it is about these versions.
EARLIER = ("advance", "make_block_ptr")
# Only functions that are known by their text use these.
DRAWING = ("umulhi",)
CONTROL = (
    *("assume", "constexpr", "max_contiguous", "multiple_of", "num_programs", "program_id"),
    *("range", "static_assert", "static_range", "device_assert", "device_print", "static_print"),
)
# Functions of floats that only the library of a device has.
OF_LIBRARY = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cosh"),
    *("erfc", "erfcinv", "erfinv", "exp10", "expm1", "fmod", "hypot", "lgamma", "log10", "log1p"),
    *("nearbyint", "nextafter", "normcdf", "pow", "remainder", "rint", "round", "sinh", "tan"),
    *("tanh", "tgamma", "trunc", "fast_cosf", "fast_dividef", "fast_exp10f", "fast_expf"),
    *("fast_log10f", "fast_log2f", "fast_logf", "fast_powf", "fast_sinf", "fast_tanf"),
)
EXTRA = (
    *("extra", "extra.cuda", "extra.cuda.gdc_wait", "extra.cuda.gdc_launch_dependents"),
    *("extra.libdevice", *(f"extra.libdevice.{one}" for one in OF_LIBRARY)),
    *("PropagateNan", "PropagateNan.ALL", "PropagateNan.NONE"),
)
TL = frozenset(
    (
        *(*TYPES, *ELEMENTWISE, *SHAPES, *MEMORY, *CONTROL, *EXTRA, *DRAWING, *EARLIER, "math"),
        *(f"math.{one}" for one in MATH),
    )
)
TORCH = frozenset(
    (
        *("Generator", "Tensor", "arange", "broadcast_tensors", "einsum", "empty", "empty_like"),
        *("no_grad", "ones", "rand", "randint", "randn", "tensor", "zeros", "zeros_like"),
        *("abs", "ceil", "clamp", "cos", "div", "erf", "exp", "exp2", "floor", "log", "log2"),
        *("maximum", "minimum", "pow", "remainder", "rsqrt", "sigmoid", "sin", "sqrt", "tanh"),
        *("round", "trunc", "where", "bool", "uint8", "int8", "int16", "int32", "int64"),
        *("float8_e4m3fn",),
        *("float8_e5m2", "float16", "bfloat16", "float32", "float64", "cuda", "cuda.device"),
    )
)
TRITON = frozenset({"cdiv", "jit", "next_power_of_2", "language", "language.constexpr"})
# The attributes of each module, and the attributes of these, with dots between them.
ATTRIBUTES = {"tl": TL, "torch": TORCH, "triton": TRITON}

ANNOTATIONS = frozenset(
    (
        *(f"tl.{one}" for one in (*TYPES, "constexpr")),
        *("triton.language.constexpr", "torch.Tensor", "torch.dtype", "torch.device"),
    )
)

# The attributes of a kernel's values: tiles, addresses, types and descriptors.
OF_TILES = frozenset(
    (
        *("advance", "dtype", "element_ty", "load", "primitive_bitwidth", "store"),
        *("T", "to", "type"),
        *(*ELEMENTWISE, *SHAPES),
    )
)
# The attributes of values in a function of Python: tensors, types, generators, numbers and lists.
OF_TENSORS = frozenset(
    (
        *("all", "amax", "amin", "any", "append", "contiguous", "cpu", "cumsum", "device", "dim"),
        *("double", "dtype", "element_size", "expand", "float", "flatten", "get", "half"),
        *("is_contiguous", "is_cuda", "isnan", "item", "items", "itemsize", "keys", "manual_seed"),
        *("ndim", "numel", "permute", "prod", "reshape", "shape", "size", "squeeze", "stride"),
        *("sum", "to", "transpose", "t", "T", "unsqueeze", "values", "view"),
    )
)

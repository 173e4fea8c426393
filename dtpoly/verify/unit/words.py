"""The words that a unit may use and does not define itself: modules, builtins, attributes.

A word that is missing here makes a unit unread, and nothing else: add it when the verifier has
learnt what it means, or when it is sure that it means nothing to a proof.
"""

import builtins

IMPORTS = (
    *("import hashlib", "import linecache", "import sys", "import threading"),
    *("import torch", "import triton"),
    *("import triton.language as tl", "import triton.tools.tensor_descriptor"),
)
# These are read as what Python and Triton mean by them. A tensor called so is called otherwise in a
# wrapper, which says them with a dot.
MODULES = frozenset({"hashlib", "linecache", "sys", "threading", "torch", "triton", "tl"})
# No unit gives one of these names to something else.
FIXED = frozenset(dir(builtins)) | MODULES
# What Triton's interpreter adds to the text of a kernel, and then looks up there or in the module.
INTERPRETER = frozenset({"interpreter_semantic", "_InterpreterComparison"})

# What Python itself gives to kernels, and to functions of Python. Nothing here can reach a module,
# run a text, or change what a name means.
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
ELEMENTWISE = (*MATH, "cdiv", "maximum", "minimum", "sigmoid", "where")
SHAPES = (
    *("arange", "broadcast", "broadcast_to", "cast", "dot", "expand_dims", "full", "max", "min"),
    *("permute", "reduce", "reshape", "split", "sum", "trans", "zeros"),
)
MEMORY = (
    *("atomic_add", "atomic_max", "atomic_min", "debug_barrier", "load", "store"),
    *("make_tensor_descriptor",),
)
CONTROL = (
    *("assume", "constexpr", "max_contiguous", "multiple_of", "num_programs", "program_id"),
    *("range", "static_assert", "static_range"),
)
EXTRA = (
    *("extra", "extra.cuda", "extra.cuda.gdc_wait", "extra.cuda.gdc_launch_dependents"),
    *("PropagateNan", "PropagateNan.ALL", "PropagateNan.NONE"),
)
TL = frozenset(
    (
        *(*TYPES, *ELEMENTWISE, *SHAPES, *MEMORY, *CONTROL, *EXTRA, "math"),
        *(f"math.{one}" for one in MATH),
    )
)
TORCH = frozenset(
    (
        *("Generator", "Tensor", "arange", "broadcast_tensors", "einsum", "empty", "empty_like"),
        *("no_grad", "ones", "rand", "randint", "randn", "tensor", "zeros", "zeros_like"),
        *("abs", "ceil", "clamp", "cos", "div", "erf", "exp", "exp2", "floor", "log", "log2"),
        *("maximum", "minimum", "pow", "remainder", "rsqrt", "sigmoid", "sin", "sqrt", "tanh"),
        *("where", "bool", "uint8", "int8", "int16", "int32", "int64", "float8_e4m3fn"),
        *("float8_e5m2", "float16", "bfloat16", "float32", "float64", "cuda", "cuda.device"),
    )
)
TRITON = frozenset({"cdiv", "jit", "next_power_of_2", "language", "language.constexpr"})
# Of each module its attributes, and theirs, with dots between them.
ATTRIBUTES = {"tl": TL, "torch": TORCH, "triton": TRITON}

ANNOTATIONS = frozenset(
    (
        *(f"tl.{one}" for one in (*TYPES, "constexpr")),
        *("triton.language.constexpr", "torch.Tensor", "torch.dtype", "torch.device"),
    )
)

# What values of a kernel have: tiles, addresses, types and descriptors.
OF_TILES = frozenset(
    (
        *("dtype", "element_ty", "load", "primitive_bitwidth", "store", "to"),
        *(*ELEMENTWISE, *SHAPES),
    )
)
# What values of a function of Python have: tensors, types, generators, numbers and lists.
OF_TENSORS = frozenset(
    (
        *("all", "amax", "amin", "any", "append", "contiguous", "cpu", "cumsum", "device", "dim"),
        *("double", "dtype", "element_size", "expand", "float", "flatten", "get", "half"),
        *("is_contiguous", "is_cuda", "isnan", "item", "items", "itemsize", "keys", "manual_seed"),
        *("ndim", "numel", "permute", "prod", "reshape", "shape", "size", "squeeze", "stride"),
        *("sum", "to", "transpose", "t", "T", "unsqueeze", "values", "view"),
    )
)

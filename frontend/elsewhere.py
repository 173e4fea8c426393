"""Lists words of other languages, each with the word of this language that is most likely meant.

Messages use these tables to suggest what to write instead.
"""

# The operators of other languages, and what to write here; "" where nothing takes their place.
OPERATORS = {
    "**": "pow(e, n)",
    "/*": "a comment as # ... to the end of the line",
    "&&": "and",
    "||": "or",
    "!": "not",
    "@": "rdot(a, b, label)",
    "?": "where(c, a, b)",
    "->": "",
}

# Words that stand between two values in other languages, and what to write instead.
JOINED = {
    "not": "join conditions by 'and' or 'or'",
    "if": "write where(condition, a, b)",
    "else": "write where(condition, a, b)",
    "is": "write ==",
    "mod": "write %",
}

# Words that begin a declaration elsewhere, in lower case.
DECLARATIONS = {
    "input": "In",
    "tensor": "In",
    "buffer": "In",
    "imageparam": "In",
    "scalar": "SIn",
    "param": "SIn",
    "function": "Func",
    "output": "Func",
    "out": "Func",
    "dim": "Var",
    "index": "Var",
    "label": "Var",
    "rdom": "RVar",
}

# Dtypes, in lower case.
DTYPES = {
    "half": "f16",
    "float": "f32",
    "double": "f64",
    "int": "i32",
    "long": "i64",
    "char": "i8",
    "byte": "u8",
    "uint8": "u8",
    "boolean": "bool",
    "i1": "bool",
    "bfloat16": "bf16",
    "fp8": "f8e4m3",
    "fp8e4nv": "f8e4m3",
    "fp8e5": "f8e5m2",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    **{f"{word}{bits}": f"f{bits}" for word in ("float", "fp") for bits in (16, 32, 64)},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
}

# Functions that have another name and the same arguments here.
FUNCTIONS = {
    "fabs": "abs",
    "ceildiv": "cdiv",
    "fmax": "maximum",
    "fmin": "minimum",
    "fmaf": "fma",
    "ln": "log",
    "power": "pow",
    "inv_sqrt": "rsqrt",
    "select": "where",
    "clip": "clamp",
    "rint": "round",
    "expit": "sigmoid",
    "sum": "rsum",
    "prod": "rprod",
    "amax": "rmax",
    "amin": "rmin",
    "any": "rany",
    "all": "rall",
    "argmax": "rargmax",
    "argmin": "rargmin",
    "dot": "rdot",
    "mm": "rdot",
    "bmm": "rdot",
    "matmul": "rdot",
    "einsum": "rdot",
    "extent": "len",
    "size": "len",
}
# Names that mean a function of two values or a reduction over a label. The last argument tells
# which.
EITHER = {"max": ("maximum", "rmax"), "min": ("minimum", "rmin")}

_SUMS = "scan_sum(A[x, s], s, t), with RVar s, and t on the left side"
_READ = "E[T[l], k], with In T: i64: an index may have elements of a tensor in it"
_ADDED = "Func f into O at [T[l], k] add; and then f[l, k] = X[l, k];"
_STORED = "Func f into O at [T[l], k] distinct; and then f[l, k] = X[l, k];"
_COUNTED = "Func f into H at [T[l]] add; and then f[l] = 1;"
_RECURRENCE = (
    "scan_sum, scan_prod, scan_max or scan_min, as in scan_sum(A[x, s], s, t); or "
    "scan_affine(a[s], b[s], s, t, 0) for h = a * h + b"
)
_FROM_THE_END = (
    "A[x, 4095 - y], with the size in the file: Var y: 4096; or A[x, at[y]], with In at: i64 that "
    "the caller passes"
)
_GUMBEL = "rargmax(L[x, k] - log(-log(random(seed, x, k))), k), with a scalar SIn seed: i64"
_GELU = "0.5 * e * (1 + erf(e * 0.7071067811865476))"
_LIST = "rtopk(e, k, j) for the values and rargtopk(e, k, j) for their indices, with Var j: 8"
_ORDERED = f"{_LIST}: a list has up to 64 places, and what is longer is put in order by the caller"
_SIGN = "where(e > 0, 1, where(e < 0, -1, 0))"
_UNPACKED = "In W: u4 packed k; and read W[n, k]; or W[n, k // 2] >> 4 * (k & 1) & 15 of bytes"
_NEAREST = (
    "A[b, c, h // 2, w // 2] for the nearest element; a linear one is a sum of such reads, each "
    "times its weight"
)
_ROLLED = "A[x, at[y]], with In at: i64 that the caller passes: indices do not wrap around"

# Functions that do not exist here, with the expression that computes them.
WRITTEN_OUT = {
    "relu": "maximum(e, 0)",
    "relu6": "clamp(e, 0, 6)",
    "leaky_relu": "where(e > 0, e, 0.01 * e)",
    "elu": "where(e > 0, e, exp(minimum(e, 0)) - 1)",
    "silu": "e * sigmoid(e)",
    "swish": "e * sigmoid(e)",
    "gelu": _GELU,
    "softplus": "maximum(e, 0) + log(1 + exp(-abs(e)))",
    "mish": "e * tanh(maximum(e, 0) + log(1 + exp(-abs(e))))",
    "logsigmoid": "minimum(e, 0) - log(1 + exp(-abs(e)))",
    "hardtanh": "clamp(e, -1, 1)",
    "hardsigmoid": "clamp(e / 6 + 0.5, 0, 1)",
    "hardswish": "e * clamp(e / 6 + 0.5, 0, 1)",
    "square": "pow(e, 2)",
    "reciprocal": "1 / e",
    "sign": _SIGN,
    "sgn": _SIGN,
    "log1p": "log(1 + e)",
    "log10": "log(e) * 0.4342944819032518",
    "expm1": "exp(e) - 1",
    "tan": "sin(e) / cos(e)",
    "sinh": "(exp(e) - exp(-e)) / 2",
    "cosh": "(exp(e) + exp(-e)) / 2",
    "erfc": "1 - erf(e)",
    "isnan": "e != e",
    "isinf": "abs(e) == inf",
    "lerp": "a + c * (b - a)",
    "fmod": "a - b * trunc(a / b)",
    "remainder": "a % b",
    "mean": "rsum(e, k) / len(k)",
    "avg": "rsum(e, k) / len(k)",
    "norm": "sqrt(rsum(e * e, k))",
    "var": "rsum(e * e, k) / len(k) - pow(rsum(e, k) / len(k), 2)",
    "std": "sqrt(rsum(e * e, k) / len(k) - pow(rsum(e, k) / len(k), 2))",
    "softmax": "exp(s - rmax(s, k)) in a Func e, then e divided by rsum(e, k)",
    "log_softmax": "s - m - log(rsum(exp(s - m), k)), with rmax(s, k) in a Func m",
    "logsumexp": "rmax(s, k) in a Func m, then m + log(rsum(exp(s - m), k))",
    # Scans.
    "cumsum": _SUMS,
    "cumulative_sum": _SUMS,
    "cumprod": "scan_prod(A[x, s], s, t), with RVar s, and t on the left side",
    "cummax": "scan_max(A[x, s], s, t), with RVar s, and t on the left side",
    "cummin": "scan_min(A[x, s], s, t), with RVar s, and t on the left side",
    "logcumsumexp": "log(scan_sum(exp(A[x, s] - reshape(m[x], x, 1)), s, t)) + reshape(m[x], x, 1)"
    ", with rmax(A[x, k], k) in a Func m: -inf where all so far are 100 below the largest",
    "scan": _RECURRENCE,
    "associative_scan": _RECURRENCE,
    # Reads and writes at places that are data.
    **dict.fromkeys(("gather", "embedding", "take", "index_select", "take_along_dim"), _READ),
    **dict.fromkeys(("scatter_add", "index_add", "atomic_add", "segment_sum"), _ADDED),
    **dict.fromkeys(("scatter", "index_put", "index_copy"), _STORED),
    **dict.fromkeys(("histogram", "histc", "bincount"), _COUNTED),
    "one_hot": "where(I == v, 1, 0)",
    "masked_fill": "where(mask, v, e)",
    "tril": "where(y <= x, e, 0)",
    "triu": "where(y >= x, e, 0)",
    "flip": _FROM_THE_END,
    "roll": _ROLLED,
    "interpolate": _NEAREST,
    "upsample": _NEAREST,
    "repeat_interleave": "A[x // 2]",
    "unpack": _UNPACKED,
    "topk": _LIST,
    **dict.fromkeys(("sort", "argsort", "kthvalue"), _ORDERED),
    # Random numbers.
    "dropout": "where(random(seed, x, y) < p, 0, e / (1 - p)), with a scalar SIn seed: i64",
    "rand": "random(seed, x, y), with a scalar SIn seed: i64",
    "bernoulli": "random(seed, x, y) < p, with a scalar SIn seed: i64",
    "multinomial": _GUMBEL,
    "randint": "random_bits(seed, x, y) % n, with a scalar SIn seed: i64",
    "randn": "sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v), with two numbers of random",
    # Shapes.
    "cat": "where(x < n, A[x], ...) with each part padded: pad(B, 0)[x - 4] begins at 4",
    "transpose": "the indices in another order: A[y, x]",
    "permute": "the indices in another order: A[y, x]",
    "range": "the label itself: in value position it is its index",
    "arange": "the label itself: in value position it is its index",
}

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

# Functions that do not exist here, with the expression that computes them.
WRITTEN_OUT = {
    "relu": "maximum(e, 0)",
    "mean": "rsum(e, k) / len(k)",
    "avg": "rsum(e, k) / len(k)",
    "softmax": "exp(s - rmax(s, k)) in a Func e, then e divided by rsum(e, k)",
    "square": "pow(e, 2)",
    "silu": "e * sigmoid(e)",
    "swish": "e * sigmoid(e)",
    "gelu": "0.5 * e * (1 + erf(e * 0.7071067811865476))",
    "softplus": "log(1 + exp(e))",
    "norm": "sqrt(rsum(e * e, k))",
    "var": "rsum(e * e, k) / len(k) - pow(rsum(e, k) / len(k), 2)",
    "logsumexp": "rmax(s, k) in a Func m, then m + log(rsum(exp(s - m), k))",
    "cumsum": "rsum(where(k <= x, A[k], 0), k)",
    "scan": "rsum(where(k <= x, A[k], 0), k)",
    # A tensor element cannot be an index, so it is compared with every index.
    "gather": "rsum(where(I == v, T[v, d], 0), v), for what I says cannot stand in an index",
    "embedding": "rsum(where(I == v, T[v, d], 0), v), for what I says cannot stand in an index",
    "take": "rsum(where(I == v, T[v, d], 0), v), for what I says cannot stand in an index",
    "one_hot": "where(I == v, 1, 0)",
    "roll": "an input that is rolled by the caller: indices do not wrap around",
    "sort": "another algorithm, as one that the caller sorts for: values are not put in order here",
    "topk": "rtopk(e, k, j) for the values and rargtopk(e, k, j) for their indices, with Var j: 8",
    "dropout": "where(random(seed, x, y) < p, 0, e / (1 - p)), with a scalar SIn seed: i64",
    "rand": "random(seed, x, y), with a scalar SIn seed: i64",
    "randn": "sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v), with two numbers of random",
    "cat": "where(x < n, A[x], ...) with each part padded: pad(B, 0)[x - 4] begins at 4",
    "transpose": "the indices in another order: A[y, x]",
    "permute": "the indices in another order: A[y, x]",
    "range": "the label itself: in value position it is its index",
    "arange": "the label itself: in value position it is its index",
}

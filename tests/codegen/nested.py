"""Programs with a reduction of lines inside of another one, in several schedules."""

FORMS = {
    "sums": "rmin(rsum(A[i, k, l], l), k)",
    "largest": "rsum(rmax(A[i, k, l], l), k)",
    "least": "rmax(rmin(A[i, k, l], l), k)",
    "products": "rsum(rprod(A[i, k, l], l), k)",
    "sums of sums": "rmax(rsum(A[i, k, l] + 0 * k, l), k)",
    "with more": "rmin(rsum(A[i, k, l], l), k) + 1",
    "of a choice": "rmin(rsum(where(l < 40, A[i, k, l], 0), l), k)",
    "of a power": "rprod(rsum(A[i, k, l], l), k)",
    "by the same operation": "rsum(rsum(A[i, k, l], l), k)",
}
SCHEDULES = {
    "all lanes": "f.block(i:16); f.tensorize(i:0, l:0);",
    "parts": "f.block(i:16); f.tensorize(i:0, l:64);",
    "one row": "f.block(i:1); f.tensorize(l:0);",
    "walked": "f.block(i:8); f.tensorize(i:0, k:1, l:0);",
}


def program(value: str, schedule: str, dtype: str) -> str:
    typed = f": {dtype}" if dtype else ""
    return f"In A{typed}; Var i; RVar k, l; Func f;\nf[i] = {value};\n{schedule}f.compile();\n"

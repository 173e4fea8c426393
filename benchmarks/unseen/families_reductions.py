"""Families that reduce, but not by products: sums and extremes, norms, lists and scans."""

from benchmarks.unseen.drawing import SINGLE, Draw, Drawn, Family, at, unary

KINDS = ("rsum", "rsum", "rsum", "rmax", "rmin")
OF_ELEMENT = ("{0}", "{0} * {0}", "abs({0})", "exp({0} * 0.25)", "maximum({0}, 0)")


def _reduced(draw: Draw, labels: str, over: str, elements: int) -> Drawn:
    """Reduce some labels of a tensor, with a prologue and an epilogue."""
    kept = [x for x in labels if x not in over]
    value = draw.one(*OF_ELEMENT).format(f"P{at(*labels)}")
    total = f"{draw.one(*KINDS)}({value}, {', '.join(over)})"
    lens = " * ".join(f"len({x})" for x in over)
    total = draw.one("{0}", "{0}", "{0} * 0.5", "{0} / ({1})").format(total, lens)
    variables = f"Var {', '.join(kept)}; " if kept else ""
    text = f"Func out; In P; {variables}RVar {', '.join(over)};\nout{at(*kept)} = {total};"
    return Drawn(text, draw.sizes(list(labels), elements))


def rows(draw: Draw) -> Drawn:
    """Each row of a matrix."""
    return _reduced(draw, "ak", "k", 1 << draw.one(20, 23, 26))


def columns(draw: Draw) -> Drawn:
    """Each column of a matrix."""
    return _reduced(draw, "ka", "k", 1 << draw.one(20, 23, 26))


def between(draw: Draw) -> Drawn:
    """A label in the middle."""
    return _reduced(draw, "akb", "k", 1 << draw.one(20, 23, 25))


def several(draw: Draw) -> Drawn:
    """Two labels or three, at any places."""
    labels = "abkl"[: draw.one(3, 4)]
    over = sorted(draw.some(labels, draw.one(2, len(labels) - 1)))
    return _reduced(draw, labels, "".join(over), 1 << draw.one(20, 23, 25))


def whole(draw: Draw) -> Drawn:
    """All elements of a tensor, or of two, become one number."""
    labels = "akl"[: draw.one(1, 2, 3)]
    element = draw.one(
        "P{0} * P{0}",
        "abs(P{0} - Q{0})",
        "(P{0} - Q{0}) * (P{0} - Q{0})",
        "P{0} * Q{0}",
        "exp(P{0})",
    ).format(at(*labels))
    names = "P, Q" if "Q" in element else "P"
    total = f"rsum({element}, {', '.join(labels)})"
    lens = " * ".join(f"len({x})" for x in labels)
    total = draw.one("{0}", "sqrt(abs({0}))", "{0} / ({1})").format(total, lens)
    text = f"Func out; In {names}; RVar {', '.join(labels)};\nout[] = {total};"
    return Drawn(text, draw.sizes(list(labels), 1 << draw.one(20, 24, 26)), dtypes=SINGLE)


def extreme_places(draw: Draw) -> Drawn:
    """The place of the largest or the smallest element."""
    labels = draw.one("ak", "ka", "akb")
    kept = [x for x in labels if x != "k"]
    text = f"Func out; In P; Var {', '.join(kept)}; RVar k;\n"
    text += f"out{at(*kept)} = {draw.one('rargmax', 'rargmin')}(P{at(*labels)}, k);"
    return Drawn(text, draw.sizes(list(labels), 1 << draw.one(20, 24)), dtypes=SINGLE)


def truths(draw: Draw) -> Drawn:
    """Whether any element, or each one, is so; or how many are."""
    labels = draw.one("ak", "ka", "akl")
    over = [x for x in labels if x in "kl"]
    kind = draw.one("rany({0}, {1})", "rall({0}, {1})", "rsum(cast({0}, i32), {1})")
    test = draw.one("P{0} > 2", "abs(P{0}) < 3.5", "P{0} != P{0}").format(at(*labels))
    text = f"Func out; In P; Var a; RVar {', '.join(over)};\n"
    text += f"out[a] = {kind.format(test, ', '.join(over))};"
    return Drawn(text, draw.sizes(list(labels), 1 << draw.one(21, 24)))


def moments(draw: Draw) -> Drawn:
    """The mean and the variance, as two results."""
    over = draw.one("k", "kl")
    names, inside = ", ".join(over), at("a", *over)
    count = " * ".join(f"len({x})" for x in over)
    text = (
        f"Func mean, variance; In P; Var a; RVar {names};\n"
        f"mean[a] = rsum(P{inside}, {names}) / ({count});\n"
        f"variance[a] = rsum(pow(P{inside} - reshape(mean[a], a{', 1' * len(over)}), 2), {names})"
        f" / ({count});\nvariance.compile(mean);"
    )
    return Drawn(text, draw.sizes(("a", *over), 1 << draw.one(21, 24)))


def distances(draw: Draw) -> Drawn:
    """Distances between all pairs of two lists of points, which are no product."""
    term = draw.one("abs({0})", "pow({0}, 2)").format("(P[m, k] - Q[n, k])")
    kind = draw.one("rsum", "rmax")
    # The difference of two tensors with different labels needs axes in one order.
    term = term.replace("P[m, k] - Q[n, k]", "reshape(P[m, k], m, 1, k) - Q[n, k]")
    text = f"Func out; In P, Q; Var m, n; RVar k;\nout[m, n] = {kind}({term}, k);"
    sizes = {"m": draw.size(128, 2048), "n": draw.size(128, 2048), "k": draw.size(3, 128)}
    return Drawn(text, sizes, dtypes=SINGLE)


def softmax(draw: Draw) -> Drawn:
    """A safe softmax, or its logarithm, over a row, a column, or with a mask."""
    labels = draw.one("ak", "ak", "ka", "abk")
    kept = [x for x in labels if x != "k"]
    inside, lined = at(*labels), ", ".join("1" if x == "k" else x for x in labels)
    value = draw.one(f"P{inside}", f"s * P{inside}", f"where(B{inside} > -1, P{inside}, -1000)")
    result = draw.one(
        "e{0} / reshape(total{1}, {2})", "S{0} - reshape(top{1} + log(total{1}), {2})"
    )
    inputs = "P, B" if "B[" in value else "P"
    text = (
        f"Func out, S, top, e, total; In {inputs}; SIn s; Var {', '.join(kept)}; RVar k;\n"
        f"S{inside} = {value};\n"
        f"top{at(*kept)} = rmax(S{inside}, k);\n"
        f"e{inside} = exp(S{inside} - reshape(top{at(*kept)}, {lined}));\n"
        f"total{at(*kept)} = rsum(e{inside}, k);\n"
        f"out{inside} = {result.format(inside, at(*kept), lined)};"
    )
    text = text if "s *" in value else text.replace(" SIn s;", "")
    return Drawn(text, draw.sizes(list(labels), 1 << draw.one(20, 23, 25)))


def log_sum_exp(draw: Draw) -> Drawn:
    """The logarithm of a sum of exponentials, safe; over one label or two."""
    over = draw.one("k", "k", "kl")
    names, inside = ", ".join(over), at("a", *over)
    shifted = f"P{inside} - reshape(top[a], a{', 1' * len(over)})"
    text = (
        f"Func out, top; In P; Var a; RVar {names};\n"
        f"top[a] = rmax(P{inside}, {names});\n"
        f"out[a] = top[a] + log(rsum(exp({shifted}), {names}));"
    )
    return Drawn(text, draw.sizes(("a", *over), 1 << draw.one(20, 23, 25)))


def row_norm(draw: Draw) -> Drawn:
    """A norm of each row: of its mean square, or with its mean, with or without weights."""
    scale, shift = draw.one("", " * W[n]"), draw.one("", " + V[n]")
    added = "P[a, n] + R[a, n]" if draw.chance(0.3) else "P[a, n]"
    names = ["P", *["R"] * ("R" in added), *["W"] * bool(scale), *["V"] * bool(shift)]
    text = f"Func out, X, mean, square; In {', '.join(names)}; Var a, n; RVar k;\n"
    over, here = added.replace("n]", "k]"), "X[a, n]"
    if draw.chance():
        text = text.replace(" mean,", "")
        text += f"square[a] = rsum(pow({over}, 2), k) / len(k);\n"
        centred = here
    else:
        text += f"mean[a] = rsum({over}, k) / len(k);\n"
        text += f"square[a] = rsum(pow({over} - reshape(mean[a], a, 1), 2), k) / len(k);\n"
        centred = f"({here} - reshape(mean[a], a, 1))"
    text += f"X[a, n] = {added};\n"
    text += f"out[a, n] = {centred} * rsqrt(reshape(square[a], a, 1) + 0.00001){scale}{shift};"
    return Drawn(text, draw.sizes(("a", "n"), 1 << draw.one(20, 23, 25)))


def batch_norm(draw: Draw) -> Drawn:
    """Norms of each channel, or of groups of channels, over all pixels."""
    kept = draw.one("c", "zc")
    over = "hw" if "z" in kept else "zhw"
    inside, names = at(*"zchw"), ", ".join(f"r{x}" for x in over)
    read = f"P{at(*(x if x in kept else f'r{x}' for x in 'zchw'))}"
    spread = ", ".join(x if x in kept else "1" for x in "zchw")
    count = " * ".join(f"len(r{x})" for x in over)
    text = (
        f"Func out, mean, square; In P, W; Var z, c, h, w; RVar {names};\n"
        f"mean{at(*kept)} = rsum({read}, {names}) / ({count});\n"
        f"square{at(*kept)} = rsum(pow({read} - reshape(mean{at(*kept)}, {spread}), 2), "
        f"{names}) / ({count});\n"
        f"out{inside} = (P{inside} - reshape(mean{at(*kept)}, {spread}))"
        f" * rsqrt(reshape(square{at(*kept)}, {spread}) + 0.001) * reshape(W[c], c, 1, 1);"
    )
    sizes = {"z": draw.size(2, 32), "c": draw.size(16, 256), "h": draw.size(7, 64)}
    return Drawn(text, sizes | {"w": draw.size(7, 64)})


def quantized(draw: Draw) -> Drawn:
    """Rows become bytes with a scale each: two results of two types."""
    most = draw.one(127, 63)
    text = (
        "Func q: i8, scale, top; In P; Var a, n; RVar k;\n"
        "top[a] = rmax(abs(P[a, k]), k);\n"
        f"scale[a] = where(top[a] > 0, div_rn(top[a], {most}), 1);\n"
        "q[a, n] = cast(clamp(floor(div_rn(P[a, n], reshape(scale[a], a, 1)) + 0.5), "
        f"-{most}, {most}), i8);\nq.compile(scale);"
    )
    return Drawn(text, draw.sizes(("a", "n"), 1 << draw.one(21, 24)), dtypes=SINGLE)


def lists(draw: Draw) -> Drawn:
    """The largest elements of each row, their places, or what comes of them."""
    many = draw.one(2, 4, 8)
    result = draw.one("value", "index", "both", "share")
    text = f"Func value, index, share; In P; Var a, j: {many}; RVar k, i: {many};\n"
    text += "value[a, j] = rtopk(P[a, k], k, j);\n"
    if result in ("index", "both"):
        text += "index[a, j] = rargtopk(P[a, k], k, j);\n"
    if result == "share":
        text += "share[a, j] = exp(value[a, j]) / reshape(rsum(exp(value[a, i]), i), a, 1);\n"
    text += {"both": "value.compile(index);"}.get(result, f"{result}.compile();")
    unused = {"value": ("index", "share"), "index": ("share",), "both": ("share",)}
    for name in unused.get(result, ("index",)):
        text = text.replace(f", {name}", "", 1)
    if result == "index":
        text = text.replace("value[a, j] = rtopk(P[a, k], k, j);\n", "").replace("value, ", "", 1)
    if result != "share":
        text = text.replace(f", i: {many}", "", 1)
    sizes = {"a": draw.size(64, 8192), "k": draw.size(64, 4096)}
    return Drawn(text, sizes, multiples={"k": many}, dtypes=SINGLE)


def running(draw: Draw) -> Drawn:
    """A sum, a product or an extreme so far, from either end."""
    kind = draw.one("scan_sum", "scan_sum", "scan_max", "scan_min", "scan_prod")
    words = draw.one("", "", ", before", ", reverse", ", before, reverse")
    operand = "(1 + 0.001 * P[a, s])" if kind == "scan_prod" else unary(draw, "P[a, s]", 0.3)
    text = f"Func out; In P; Var a, t; RVar s;\nout[a, t] = {kind}({operand}, s, t{words});"
    sizes = draw.sizes(("a", "s"), 1 << draw.one(20, 23, 25))
    return Drawn(text, sizes, dtypes=SINGLE)


def recurrence(draw: Draw) -> Drawn:
    """A linear recurrence along a row, of which each step has a factor."""
    factor = draw.one("sigmoid(D[a, s])", "0.9", "exp(-abs(D[a, s]))")
    names = "P, D, first" if "D" in factor else "P, first"
    text = f"Func out; In {names}; Var a, t; RVar s;\n"
    text += f"out[a, t] = scan_affine({factor}, P[a, s], s, t, first[a]);"
    if factor == "0.9":
        text = text.replace("0.9", "0.9 + 0 * P[a, s]")
    sizes = {"a": draw.size(16, 4096), "s": draw.size(256, 8192)}
    return Drawn(text, sizes, dtypes=SINGLE)


FAMILIES = (
    Family("rows", rows),
    Family("columns", columns),
    Family("between", between),
    Family("several", several),
    Family("whole", whole),
    Family("extreme places", extreme_places),
    Family("truths", truths),
    Family("moments", moments, is_held_out=True),
    Family("distances", distances, is_held_out=True),
    Family("softmax", softmax),
    Family("log-sum-exp", log_sum_exp),
    Family("row norm", row_norm),
    Family("batch norm", batch_norm, is_held_out=True),
    Family("quantized", quantized, is_held_out=True),
    Family("lists", lists),
    Family("running", running),
    Family("recurrence", recurrence, is_held_out=True),
)

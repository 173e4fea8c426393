"""Families of windows, losses, data that names rows, and attention."""

from benchmarks.unseen.drawing import SINGLE, Draw, Drawn, Family


def pooled(draw: Draw) -> Drawn:
    """The largest element or the mean of a window that moves over a picture."""
    side, stride = draw.one(2, 3), draw.one(1, 2)
    is_max = draw.chance()
    read = f"X[z, {stride} * h + r, {stride} * w + s]".replace("1 * ", "")
    value = f"rmax({read}, r, s)" if is_max else f"rsum({read}, r, s) / {side * side}"
    text = f"Func out; In X; Var z, h, w; RVar r: {side}, s: {side};\nout[z, h, w] = {value};"
    sizes = {"z": draw.size(16, 512), "h": draw.size(14, 256), "w": draw.size(14, 256)}
    call = "max" if is_max else "avg"
    return Drawn(text, sizes, library=f"F.{call}_pool2d(X, {side}, {stride})")


def stencil(draw: Draw) -> Drawn:
    """Neighbours of each point, weighted: inside of a grid, or with what is outside as 0."""
    read = draw.one("P", "pad(P, 0)")
    if draw.chance():
        terms = [f"{read}[x - 1, y]", f"{read}[x + 1, y]", f"{read}[x, y - 1]", f"{read}[x, y + 1]"]
        if read == "P":
            terms = ["P[x, y + 1]", "P[x + 2, y + 1]", "P[x + 1, y]", "P[x + 1, y + 2]"]
        middle = "P[x + 1, y + 1]" if read == "P" else "P[x, y]"
        value = f"0.5 * {middle} + 0.125 * ({' + '.join(terms)})"
        text = f"Func out; In P; Var x, y;\nout[x, y] = {value};"
        return Drawn(text, draw.sizes(("x", "y"), 1 << draw.one(20, 23)))
    value = "P[z, x] - 0.5 * P[z, x + 2] + 0.25 * P[z, x + 1]"
    text = f"Func out; In P; Var z, x;\nout[z, x] = {value};"
    return Drawn(text, draw.sizes(("z", "x"), 1 << draw.one(20, 23)))


def blurred(draw: Draw) -> Drawn:
    """Two filters one after the other: the second reads what the first one made."""
    taps = draw.one(3, 5)
    along = " + ".join(f"P[z, u, y + {i}]" for i in range(taps))
    down = " + ".join(f"rows[z, x + {i}, y]" for i in range(taps))
    text = f"Func out, rows; In P; Var z, u, x, y;\nrows[z, u, y] = ({along}) / {taps};\n"
    text += f"out[z, x, y] = ({down}) / {taps};"
    sizes = {"z": draw.size(1, 16), "u": draw.size(128, 1024), "y": draw.size(128, 1024)}
    return Drawn(text, sizes, multiples={"u": 8})


def loss(draw: Draw) -> Drawn:
    """A loss of each row: of differences, of margins, of distributions."""
    element = draw.one(
        "pow(P[a, k] - T[a, k], 2)",
        "where(abs(P[a, k] - T[a, k]) < 1, 0.5 * pow(P[a, k] - T[a, k], 2),"
        " abs(P[a, k] - T[a, k]) - 0.5)",
        "maximum(1 - P[a, k] * T[a, k], 0)",
        "T[a, k] * (log(T[a, k]) - P[a, k])",
        "maximum(P[a, k], 0) - P[a, k] * T[a, k] + log(1 + exp(-abs(P[a, k])))",
    )
    text = f"Func out; In P, T; Var a; RVar k;\nout[a] = rsum({element}, k) / len(k);"
    fillings = {"T": "positive"} if "log(T" in element else {}
    return Drawn(text, draw.sizes(("a", "k"), 1 << draw.one(21, 24)), fillings=fillings)


def cross_entropy(draw: Draw) -> Drawn:
    """The loss of a class that data names, from scores: safe, and maybe smoothed."""
    text = (
        "Func out, top, total; In P, T: i64 within len(k); Var a; RVar k;\n"
        "top[a] = rmax(P[a, k], k);\n"
        "total[a] = rsum(exp(P[a, k] - reshape(top[a], a, 1)), k);\n"
        "out[a] = top[a] + log(total[a]) - P[a, T[a]];"
    )
    library = "F.cross_entropy(P, T, reduction='none')"
    if draw.chance(0.3):
        text = text.replace("- P[a, T[a]]", "- 0.9 * P[a, T[a]] - 0.1 * rsum(P[a, k], k) / len(k)")
        library = "F.cross_entropy(P, T, reduction='none', label_smoothing=0.1)"
    sizes = {"a": draw.size(256, 8192), "k": draw.size(512, 65536 // 2)}
    return Drawn(text, sizes, library=library)


def embedded(draw: Draw) -> Drawn:
    """Rows of a table that data names, maybe added up or scaled."""
    kind = draw.one("plain", "scaled", "bag", "tested")
    rows, d = draw.size(1024, 65536), draw.size(64, 2048)
    if kind == "bag":
        text = "Func out; In E, T: i32 within len(v); Var a, d, v; RVar j: 8;\n"
        text += "out[a, d] = rsum(E[T[a, j], d], j);"
    else:
        promise = "" if kind == "tested" else " within len(v)"
        value = "E[T[a], d]" + (" * s + Q[d]" if kind == "scaled" else "")
        inputs = "E, T: i64, Q" if kind == "scaled" else "E, T: i64"
        inputs = inputs.replace("i64", f"i64{promise}")
        number = " SIn s;" if kind == "scaled" else ""
        text = f"Func out; In {inputs};{number} Var a, d{', v' if promise else ''};\n"
        text += f"out[a, d] = {value};"
    sizes = {"a": draw.size(512, 16384), "d": d}
    fillings = {}
    if kind == "tested":
        fillings = {"T": "below a"}
    else:
        sizes |= {"v": rows}
    library = "F.embedding(T, E)" if kind == "plain" else ""
    return Drawn(text, sizes, fillings=fillings, library=library)


def scattered(draw: Draw) -> Drawn:
    """Rows go to places that data names, in a tensor of the caller."""
    text = (
        "Func out into C at [T[a], d] distinct; In C, T: i64 within len(v), P; Var a, d, v;\n"
        f"out[a, d] = {draw.one('P[a, d]', 'P[a, d] * sigmoid(P[a, d])', '0.5 * P[a, d]')};"
    )
    count = draw.size(512, 8192)
    sizes = {"a": count, "v": count * draw.one(1, 2, 4), "d": draw.size(64, 1024)}
    return Drawn(text, sizes, multiples={"v": 16}, fillings={"T": "distinct v"})


def added(draw: Draw) -> Drawn:
    """Histograms, and rows that are added at places that data names."""
    if draw.chance():
        bins = draw.one(64, 256, 1024)
        text = "Func zero: i32, out into zero at [T[a]] add; "
        text += f"In T: i32 within {bins}; Var a, v: {bins};\n"
        text += "zero[v] = 0;\nout[a] = 1;"
        library = f"torch.bincount(T, minlength={bins}).int()"
        return Drawn(text, {"a": draw.size(1 << 16, 1 << 22)}, library=library)
    text = (
        "Func out into C at [T[a], d] add; In C, T: i64 within len(v), P; Var a, d, v;\n"
        "out[a, d] = P[a, d];"
    )
    sizes = {"a": draw.size(1024, 16384), "v": draw.size(64, 4096), "d": draw.size(32, 512)}
    return Drawn(text, sizes, dtypes=SINGLE)


def paged(draw: Draw) -> Drawn:
    """Rows of a sequence that stand in pages, which data names."""
    page = draw.one(16, 32, 64)
    text = (
        "Func out; In K, pages: i32 within len(p); Var z, l, h, d, p;\n"
        f"out[z, h, l, d] = K[pages[z, l // {page}], l % {page}, h, d];"
    )
    sizes = {"z": draw.size(1, 16), "l": draw.size(256, 4096, page), "h": draw.one(2, 4, 8)}
    sizes |= {"d": draw.one(64, 128), "p": draw.size(64, 1024)}
    return Drawn(text, sizes, multiples={"l": page})


MASKS = ("", "", "l <= m", "l <= m and m - l < {0}", "B[m, l] > -1")


def attention(draw: Draw) -> Drawn:
    """Attention with or without masks, of heads that may share keys."""
    mask, shared = draw.one(*MASKS).format(draw.one(64, 256)), draw.one(1, 1, 4)
    key = f"h // {shared}" if shared > 1 else "h"
    score = f"rdot(Q[z, h, m, k], K[z, {key}, l, k], k) * rsqrt(len(k))"
    score = f"where({mask}, {score}, -inf)" if mask and "B" not in mask else score
    if "B" in mask:
        score = f"{score} + reshape(B[m, l], 1, 1, m, l)"
    inputs = "Q, K, V, B" if "B[" in score else "Q, K, V"
    text = (
        f"Func out, S, top, e, total; In {inputs}; Var z, h, m, n; RVar k, l;\n"
        f"S[z, h, m, l] = {score};\n"
        "top[z, h, m] = rmax(S[z, h, m, l], l);\n"
        "e[z, h, m, l] = exp(S[z, h, m, l] - reshape(top[z, h, m], z, h, m, 1));\n"
        "total[z, h, m] = rsum(e[z, h, m, l], l);\n"
        f"out[z, h, m, n] = rdot(e[z, h, m, l], V[z, {key}, l, n], l)"
        " / reshape(total[z, h, m], z, h, m, 1);"
    )
    size, d = draw.size(256, 2048), draw.one(64, 128)
    sizes = {"z": draw.size(1, 4), "h": draw.one(4, 8, 16), "m": size, "l": size, "k": d, "n": d}
    plain = not mask or mask == "l <= m"
    more = f", is_causal={bool(mask)}, enable_gqa={shared > 1}"
    library = f"F.scaled_dot_product_attention(Q, K, V{more})" if plain else ""
    return Drawn(text, sizes, {"h": shared}, library=library, dtypes=("bf16", "f16"))


def decoding(draw: Draw) -> Drawn:
    """Attention of one new position: a vector of each head, and all keys so far."""
    text = (
        "Func out, S, top, e, total; In Q, K, V; Var z, h, g, n; RVar k, l;\n"
        "S[z, h, g, l] = rdot(Q[z, h, g, k], K[z, h, l, k], k) * rsqrt(len(k));\n"
        "top[z, h, g] = rmax(S[z, h, g, l], l);\n"
        "e[z, h, g, l] = exp(S[z, h, g, l] - reshape(top[z, h, g], z, h, g, 1));\n"
        "total[z, h, g] = rsum(e[z, h, g, l], l);\n"
        "out[z, h, g, n] = rdot(e[z, h, g, l], V[z, h, l, n], l)"
        " / reshape(total[z, h, g], z, h, g, 1);"
    )
    d = draw.one(64, 128)
    sizes = {"z": draw.size(1, 16), "h": draw.one(1, 4, 8), "g": draw.one(1, 4, 8)}
    sizes |= {"l": draw.size(1024, 16384), "k": d, "n": d}
    library = "F.scaled_dot_product_attention(Q, K, V)"
    return Drawn(text, sizes, library=library, dtypes=("bf16", "f16"))


def linear_attention(draw: Draw) -> Drawn:
    """Attention without a softmax: a product of a product, masked or not."""
    mask = draw.one("", "l <= m", "m - l < 128 and l <= m")
    score = "rdot(Q[h, m, k], K[h, l, k], k)"
    score = f"where({mask}, {score}, 0)" if mask else score
    text = (
        "Func out, S; In Q, K, V; Var h, m, n; RVar k, l;\n"
        f"S[h, m, l] = {score};\nout[h, m, n] = rdot(S[h, m, l], V[h, l, n], l);"
    )
    size, d = draw.size(256, 2048), draw.one(32, 64, 128)
    sizes = {"h": draw.size(4, 32), "m": size, "l": size, "k": d, "n": d}
    return Drawn(text, sizes, dtypes=("bf16", "f16"))


FAMILIES = (
    Family("pooled", pooled),
    Family("stencil", stencil),
    Family("blurred", blurred, is_held_out=True),
    Family("loss", loss),
    Family("cross entropy", cross_entropy),
    Family("embedded", embedded),
    Family("scattered", scattered),
    Family("added", added, is_held_out=True),
    Family("paged", paged),
    Family("attention", attention),
    Family("decoding", decoding),
    Family("linear attention", linear_attention, is_held_out=True),
)

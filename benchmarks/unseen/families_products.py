"""Families that multiply: matrices in all layouts, batches, groups, ragged ones, convolutions."""

from benchmarks.unseen.drawing import Draw, Drawn, Family, at, unary

LEFT, RIGHT = (("m", "k"), ("k", "m")), (("k", "n"), ("n", "k"))
EPILOGUES = ("{0}", "{0}", "{0} + Z[n]", "maximum({0}, 0)", "{0} * sigmoid({0})", "{0} * s")


def _epilogue(draw: Draw, product: str) -> tuple[str, str]:
    """Return what becomes of a product, and the declarations that it needs."""
    found = draw.one(*EPILOGUES)
    declared = "In Z; " if "Z" in found else "SIn s; " if "* s" in found[-4:] else ""
    return found.format(product), declared


def _precision(draw: Draw) -> str:
    """Return how products of f32 are rounded: not at all, or to tf32."""
    return draw.one("", "tf32")


def matmul(draw: Draw) -> Drawn:
    """A product of two matrices, each of which may be turned."""
    left, right = draw.one(*LEFT), draw.one(*RIGHT)
    value, more = _epilogue(draw, "mm[m, n]")
    text = f"Func out, mm; In A, B; {more}Var m, n; RVar k;\n"
    text += f"mm[m, n] = rdot(A{at(*left)}, B{at(*right)}, k);\nout[m, n] = {value};"
    sizes = {x: draw.size(256, 4096) for x in "mnk"}
    return Drawn(text, sizes, precision=_precision(draw))


def batched(draw: Draw) -> Drawn:
    """Many products, of which one side may lack the batch."""
    left, right = draw.one(*LEFT), draw.one(*RIGHT)
    shared = draw.chance(0.3)
    second = at(*right) if shared else at("z", *right)
    text = "Func out; In A, B; Var z, m, n; RVar k;\n"
    text += f"out[z, m, n] = rdot(A{at('z', *left)}, B{second}, k);"
    sizes = {"z": draw.size(4, 128)} | {x: draw.size(64, 768) for x in "mnk"}
    return Drawn(text, sizes, precision=_precision(draw))


def skinny(draw: Draw) -> Drawn:
    """Few rows: a vector or a handful of them, times a matrix."""
    m, right = draw.one(1, 4, 16, 64, 128), draw.one(*RIGHT)
    sizes = {"n": draw.size(1024, 16384), "k": draw.size(1024, 8192)}
    if m == 1:
        text = f"Func out; In A, B; Var n; RVar k;\nout[n] = rdot(A[k], B{at(*right)}, k);"
        return Drawn(text, sizes)
    text = f"Func out; In A, B; Var m, n; RVar k;\nout[m, n] = rdot(A[m, k], B{at(*right)}, k);"
    return Drawn(text, sizes | {"m": m}, precision=_precision(draw))


def deep(draw: Draw) -> Drawn:
    """Few results, each of which sums up very many products."""
    left, right = draw.one(*LEFT), draw.one(*RIGHT)
    text = "Func out; In A, B; Var m, n; RVar k;\n"
    text += f"out[m, n] = rdot(A{at(*left)}, B{at(*right)}, k);"
    sizes = {"m": draw.size(16, 256), "n": draw.size(16, 256), "k": draw.size(16384, 262144)}
    return Drawn(text, sizes, precision=_precision(draw))


def chained(draw: Draw) -> Drawn:
    """Two products one after the other, with a function between."""
    between = unary(draw, "first[m, h]", 0.6)
    text = "Func out, first, inner; In A, B, C; Var m, n; RVar k, h;\n"
    text += "first[m, h] = rdot(A[m, k], B[k, h], k);\n"
    text += f"inner[m, h] = {between};\nout[m, n] = rdot(inner[m, h], C[h, n], h);"
    sizes = {"m": draw.size(256, 4096), "k": draw.size(128, 2048), "h": draw.size(32, 2048)}
    return Drawn(text, sizes | {"n": draw.size(64, 2048)}, precision=_precision(draw))


def gated_product(draw: Draw) -> Drawn:
    """Two products of one matrix, of which one gates the other."""
    text = (
        "Func out, gate, up; In A, B, C; Var m, n; RVar k;\n"
        "gate[m, n] = rdot(A[m, k], B[n, k], k);\nup[m, n] = rdot(A[m, k], C[n, k], k);\n"
        f"out[m, n] = {draw.one('sigmoid(gate[m, n])', 'maximum(gate[m, n], 0)')} * up[m, n];"
    )
    sizes = {"m": draw.size(64, 2048), "n": draw.size(256, 4096), "k": draw.size(256, 2048)}
    return Drawn(text, sizes, precision=_precision(draw))


def triangular(draw: Draw) -> Drawn:
    """Half of a factor or of the result is left out: by a range, by a mask, in the result."""
    kind = draw.one("range", "mask", "upper", "result")
    k = {"range": "k in [0, m + 1)", "upper": "k in [m, len(k))"}.get(kind, "k")
    left = "where(k <= m, A[m, k], 0)" if kind == "mask" else "A[m, k]"
    value = f"rdot({left}, B[k, n], k)"
    text = f"Func out; In A, B; Var m, n; RVar {k};\nout[m, n] = {value};"
    if kind == "result":
        text = "Func out; In A, B; Var m; RVar n in [0, m + 1), k;\n"
        text += "out[m, n] = rdot(A[m, k], B[k, n], k);"
    size = draw.size(256, 2048)
    sizes = {"m": size, "n": draw.size(256, 2048) if kind != "result" else size, "k": size}
    return Drawn(text, sizes, precision=_precision(draw))


def gram(draw: Draw) -> Drawn:
    """A matrix times itself, turned."""
    sides = draw.one("A[m, k], A[n, k]", "A[k, m], A[k, n]")
    text = f"Func out; In A; Var m, n; RVar k;\nout[m, n] = rdot({sides}, k);"
    sizes = {"m": draw.size(128, 2048), "k": draw.size(256, 8192)}
    return Drawn(text, sizes, precision=_precision(draw))


def contracted(draw: Draw) -> Drawn:
    """Several labels on each side of a product, or several that are summed over."""
    kind = draw.one(
        ("A[a, b, k]", "B[k, c, d]", "abcd", "k"), ("A[a, k, l]", "B[k, l, c]", "ac", "kl"),
        ("A[a, k, b]", "B[c, k]", "acb", "k"), ("A[z, a, k]", "B[k, z, c]", "azc", "k"),
        ("A[z, h, a, k]", "B[z, c, h, k]", "zahc", "k"),
    )  # fmt: skip
    left, right, kept, over = kind
    text = f"Func out; In A, B; Var {', '.join(kept)}; RVar {', '.join(over)};\n"
    text += f"out{at(*kept)} = rdot({left}, {right}, {', '.join(over)});"
    each = round((1 << draw.one(20, 24)) ** (1 / len(kept)))
    sizes = {x: draw.size(max(each // 3, 4), 3 * each) for x in kept}
    return Drawn(text, sizes | {x: draw.size(16, 256) for x in over}, precision=_precision(draw))


def grouped(draw: Draw) -> Drawn:
    """Rows that data names, times the matrix of a group that data names."""
    size = draw.one(32, 64, 128)
    text = (
        f"Func out; In A, B, group: i32 within len(e); Var t, i: {size}, n, e; RVar k;\n"
        "out[t, i, n] = rdot(A[t, i, k], B[group[t], k, n], k);"
    )
    sizes = {"t": draw.size(8, 64), "e": draw.one(4, 8, 16), "n": draw.size(128, 2048)}
    return Drawn(text, sizes | {"k": draw.size(128, 2048)}, precision=_precision(draw))


def segments(draw: Draw) -> Drawn:
    """Sums over rows of which data says where they begin and end; also products of them."""
    if draw.chance(0.6):
        kind, element = draw.one("rsum", "rmax"), draw.one("P[l, d]", "P[l, d] * P[l, d]")
        text = (
            "Func out; In P, offsets: i64; Var z, d; RVar l in [offsets[z], offsets[z + 1]);\n"
            f"out[z, d] = {kind}({element}, l);"
        )
        sizes = {"z": draw.size(8, 512), "d": draw.size(32, 512), "l": draw.size(4096, 65536)}
    else:
        text = (
            "Func out; In V, x, columns: i32, offsets: i32; Var z;"
            " RVar l in [offsets[z], offsets[z + 1]);\nout[z] = rsum(V[l] * x[columns[l]], l);"
        )
        sizes = {"z": draw.size(1024, 65536), "l": draw.size(65536, 1 << 21)}
    fillings = {"offsets": "offsets l", "columns": "below l"}
    return Drawn(text, sizes, fillings={k: v for k, v in fillings.items() if k in text})


def packed_product(draw: Draw) -> Drawn:
    """Weights of four bits or of bytes become floats on the way into a product."""
    group = draw.one(64, 128)
    kind = draw.one("i4 packed k", "i8")
    text = (
        f"Func out, weight; In A, W: {kind}, S; Var m, n; RVar k;\n"
        f"weight[n, k] = W[n, k] * S[n, k // {group}];\n"
        "out[m, n] = rdot(A[m, k], weight[n, k], k);"
    )
    sizes = {"m": draw.one(1, 16, 128, 1024), "n": draw.size(512, 4096)}
    sizes |= {"k": draw.size(512, 4096, group)}
    return Drawn(text, sizes, multiples={"k": group}, dtypes=("bf16", "f16"))


CONVOLVED = ("x", "y", "v")


def _convolution(draw: Draw, axes: int, kind: str = "full") -> Drawn:
    """Draw a convolution along one to three axes: plain, grouped, or of each channel alone."""
    stride, dilation = draw.one(1, 1, 2), draw.one(1, 1, 2)
    side = draw.one(1, 2, 3, 3, 5) if axes < 3 else draw.one(2, 3)
    padding = draw.one(0, dilation * (side - 1) // 2)
    here, taps = CONVOLVED[:axes], [f"r{x}" for x in CONVOLVED[:axes]]
    shift = f" - {padding}" if padding else ""
    places = [
        f"{stride} * {x} + {dilation} * {r}{shift}".replace("1 * ", "")
        for x, r in zip(here, taps, strict=True)
    ]
    read = f"{'pad(X, 0)' if padding else 'X'}"
    variables, reduced = f"z, f, {', '.join(here)}", "".join(f", {r}: {side}" for r in taps)
    groups = draw.one(2, 4, 8)
    channels, filters = draw.size(8, 128, groups), draw.size(8, 128, groups)
    if kind == "each":
        inside, weight, names = f"z, f, {', '.join(places)}", at("f", *taps), ", ".join(taps)
        call = f"rdot({read}[{inside}], W{weight}, {names})"
        text = f"Func out; In X, W; Var {variables}; RVar{reduced[1:]};\n"
        groups, channels, filters = 0, 0, draw.size(16, 256)
    elif kind == "grouped":
        each = filters // groups
        inside = f"z, {channels // groups} * (f // {each}) + c, {', '.join(places)}"
        call = f"rdot({read}[{inside}], W{at('f', 'c', *taps)}, c, {', '.join(taps)})"
        text = f"Func out; In X, W; Var {variables}; RVar c: {channels // groups}{reduced};\n"
    else:
        groups, inside = 1, f"z, c, {', '.join(places)}"
        call = f"rdot({read}[{inside}], W{at('f', 'c', *taps)}, c, {', '.join(taps)})"
        text = f"Func out; In X, W; Var {variables}; RVar c{reduced};\n"
    value = draw.one("{0}", "{0}", "maximum({0}, 0)").format(f"cv{at('z', 'f', *here)}")
    if value.startswith("max"):
        text = text.replace("Func out", "Func out, cv")
        text += f"cv{at('z', 'f', *here)} = {call};\nout{at('z', 'f', *here)} = {value};"
    else:
        text += f"out{at('z', 'f', *here)} = {call};"
    length = {1: (512, 16384), 2: (14, 128), 3: (8, 32)}[axes]
    sizes = {x: draw.size(*length) for x in here} | {"f": filters}
    sizes |= {"c": channels} if kind == "full" else {}
    sizes |= {"z": draw.size(1, 16)}
    weight = "W" if kind != "each" else "W[:, None]"
    number = groups if groups else "len(W)"
    library = (
        f"F.conv{axes}d(X, {weight}, stride={stride}, padding={padding}, dilation={dilation}, "
        f"groups={number})"
    )
    if value.startswith("max"):
        library = f"F.relu({library})"
    multiples = {"f": filters} if kind == "grouped" else {}
    shorter = {"X": (0, 0, *[2 * padding] * axes)} if padding else {}
    precision = _precision(draw)
    return Drawn(text, sizes, multiples, library=library, shorter=shorter, precision=precision)


def convolved_1d(draw: Draw) -> Drawn:
    """A convolution along one axis."""
    return _convolution(draw, 1)


def convolved_2d(draw: Draw) -> Drawn:
    """A convolution of pictures, with strides, dilations and padding."""
    return _convolution(draw, 2)


def convolved_3d(draw: Draw) -> Drawn:
    """A convolution of volumes."""
    return _convolution(draw, 3)


def depthwise(draw: Draw) -> Drawn:
    """A convolution of each channel alone."""
    return _convolution(draw, draw.one(1, 2), "each")


def grouped_convolution(draw: Draw) -> Drawn:
    """A convolution in groups of channels."""
    return _convolution(draw, draw.one(1, 2), "grouped")


def pointwise_convolution(draw: Draw) -> Drawn:
    """A convolution with a single tap: a product for each pixel."""
    text = "Func out; In X, W; Var z, f, x, y; RVar c;\n"
    text += "out[z, f, x, y] = rdot(X[z, c, x, y], W[f, c], c);"
    sizes = {"z": draw.size(1, 32), "f": draw.size(32, 512), "c": draw.size(32, 512)}
    sizes |= {x: draw.size(7, 112) for x in "xy"}
    return Drawn(
        text, sizes, library="F.conv2d(X, W[:, :, None, None])", precision=_precision(draw)
    )


def transposed_convolution(draw: Draw) -> Drawn:
    """A transposed convolution: each tap is there at every second or third place only."""
    stride = draw.one(2, 2, 3)
    side = stride + draw.one(0, 1, 2)
    place = f"(x + {stride * side} - r)"
    # The shift keeps what is divided above 0; a whole number of strides is taken off again.
    read = f"pad(X, 0)[z, c, {place} // {stride} - {side}]"
    text = (
        f"Func out; In X, W; Var z, f, x; RVar c, r: {side};\n"
        f"out[z, f, x] = rdot(where({place} % {stride} == 0, {read}, 0), W[c, f, r], c, r);"
    )
    sizes = {"z": draw.size(1, 16), "f": draw.size(8, 128), "c": draw.size(8, 128)}
    sizes |= {"x": draw.size(512, 8192, stride)}
    library = f"F.conv_transpose1d(X, W, stride={stride})[:, :, :{{x}}]"
    shorter, precision = {"X": (0, 0, side)}, _precision(draw)
    return Drawn(text, sizes, {"x": stride}, library=library, shorter=shorter, precision=precision)


FAMILIES = (
    Family("matmul", matmul),
    Family("batched", batched),
    Family("skinny", skinny),
    Family("deep", deep),
    Family("chained", chained),
    Family("gated product", gated_product),
    Family("triangular", triangular),
    Family("gram", gram),
    Family("contracted", contracted, is_held_out=True),
    Family("grouped", grouped),
    Family("segments", segments),
    Family("packed product", packed_product, is_held_out=True),
    Family("convolution 1D", convolved_1d),
    Family("convolution 2D", convolved_2d),
    Family("convolution 3D", convolved_3d, is_held_out=True),
    Family("depthwise", depthwise),
    Family("grouped convolution", grouped_convolution, is_held_out=True),
    Family("pointwise convolution", pointwise_convolution),
    Family("transposed convolution", transposed_convolution),
)

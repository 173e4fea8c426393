"""Families that reduce nothing: elements, broadcasts, masks, moves, bits and random numbers."""

from benchmarks.unseen.drawing import SINGLE, Draw, Drawn, Family, at, binary, unary

LABELS = ("a", "b", "c", "d")


def pointwise(draw: Draw) -> Drawn:
    """One to four tensors of one shape."""
    labels = LABELS[: draw.one(1, 2, 3)]
    names = "PQRS"[: draw.one(1, 2, 3, 4)]
    value = unary(draw, f"P{at(*labels)}", 0.9)
    for name in names[1:]:
        value = binary(draw, value, unary(draw, f"{name}{at(*labels)}"))
    text = f"Func out; In {', '.join(names)}; Var {', '.join(labels)};\nout{at(*labels)} = {value};"
    return Drawn(text, draw.sizes(labels, 1 << draw.one(20, 22, 24, 26)))


def broadcast(draw: Draw) -> Drawn:
    """A tensor beside others that lack some of its labels, and a number."""
    labels = LABELS[: draw.one(2, 3, 4)]
    value = f"P{at(*labels)}"
    for name in "QR":
        kept = [x for x in labels if draw.chance()] or [draw.one(*labels)]
        axes = ", ".join(x if x in kept else "1" for x in labels)
        value = binary(draw, value, f"reshape({name}{at(*kept)}, {axes})")
    number = " * s" if draw.chance() else ""
    text = (
        f"Func out; In P, Q, R; {'SIn s; ' if number else ''}Var {', '.join(labels)};\n"
        f"out{at(*labels)} = {unary(draw, value)}{number};"
    )
    return Drawn(text, draw.sizes(labels, 1 << draw.one(21, 23, 25)))


def outer(draw: Draw) -> Drawn:
    """Every pair of elements of two vectors or matrices."""
    more = ["z"] if draw.chance() else []
    value = binary(draw, f"reshape(P{at(*more, 'a')}, {', '.join([*more, 'a', '1'])})", "Q[b]")
    text = f"Func out; In P, Q; Var {', '.join([*more, 'a', 'b'])};\n"
    text += f"out{at(*more, 'a', 'b')} = {unary(draw, value)};"
    return Drawn(text, draw.sizes([*more, "a", "b"], 1 << draw.one(20, 23, 25)))


def gated(draw: Draw) -> Drawn:
    """Half of a row is multiplied with a function of the other half, or of another tensor."""
    function = draw.one("sigmoid({0})", "{0} * sigmoid({0})", "tanh({0})", "maximum({0}, 0)")
    n = draw.size(512, 8192)
    if draw.chance():
        text = "Func out; In P; Var a, n;\n"
        text += f"out[a, n] = {function.format('P[a, 0, n]')} * P[a, 1, n];"
    else:
        text = "Func out; In P, Q; SIn s; Var a, n;\n"
        text += f"out[a, n] = {function.format('(s * P[a, n])')} * Q[a, n];"
    return Drawn(text, {"a": draw.size(64, 8192), "n": n})


def permuted(draw: Draw) -> Drawn:
    """The axes of a tensor in another order, with an epilogue."""
    labels = list(LABELS[: draw.one(2, 3, 4)])
    order = draw.some(labels, len(labels))
    while order == labels:
        order = draw.some(labels, len(labels))
    names, value = "P", unary(draw, f"P{at(*labels)}")
    text = f"moved{at(*order)} = {value};\n"
    if draw.chance(0.3):
        # Operands line up by their last axes, so the tensor gets its new order before.
        names, value = "P, Q", binary(draw, f"moved{at(*order)}", f"Q{at(*order)}")
        text = f"Func out, moved; In {names}; Var {', '.join(labels)};\n{text}"
    else:
        text = f"Func out; In {names}; Var {', '.join(labels)};\n"
    text += f"out{at(*order)} = {value};"
    return Drawn(text, draw.sizes(labels, 1 << draw.one(20, 22, 25)))


def masked(draw: Draw) -> Drawn:
    """A mask of indices or of data decides what is kept."""
    band = draw.one(16, 100, 512)
    condition = draw.one(
        "n <= m", f"m - n < {band} and n - m < {band}", "(m + n) % 2 == 0", "B[m, n] > 0",
        "n <= m and B[m, n] > 0",
    )  # fmt: skip
    other = draw.one("0", "-inf", "-1")
    tensors = "P, B" if "B[" in condition else "P"
    text = f"Func out; In {tensors}; SIn s; Var z, m, n;\n"
    text += f"out[z, m, n] = where({condition}, s * P[z, m, n], {other});"
    return Drawn(
        text, {"z": draw.size(2, 64), "m": draw.size(128, 1024), "n": draw.size(128, 1024)}
    )


def stepped(draw: Draw) -> Drawn:
    """A step of an optimiser, which writes its parameters in place."""
    if draw.chance():
        text = (
            "Func param into P, moment into M; In P, G, M; SIn rate, beta; Var a;\n"
            "moment[a] = beta * M[a] + G[a];\n"
            f"param[a] = P[a] - rate * {draw.one('moment[a]', '(G[a] + beta * moment[a])')};\n"
            "param.compile(moment);"
        )
    else:
        text = (
            "Func param into P, m into M, v into V; In P, G, M, V; SIn rate, b, eps; Var a;\n"
            "m[a] = b * M[a] + (1 - b) * G[a];\n"
            "v[a] = 0.99 * V[a] + 0.01 * G[a] * G[a];\n"
            f"param[a] = P[a]{draw.one('', ' * 0.999')} - rate * m[a] / (sqrt(v[a]) + eps);\n"
            "param.compile(m, v);"
        )
    return Drawn(
        text, {"a": draw.size(1 << 18, 1 << 25)}, fillings={"V": "positive"}, dtypes=SINGLE
    )


def dropout(draw: Draw) -> Drawn:
    """Random numbers decide what is kept, or are added."""
    value = draw.one(
        "where(random(seed, a, b) < p, 0, P[a, b] / (1 - p))",
        "P[a, b] + p * (random(seed, a, b) - 0.5)",
        "where(random(seed, a, b) < p, 0, maximum(P[a, b] + Q[b], 0))",
    )
    names = "P, Q" if "Q" in value else "P"
    text = f"Func out; In {names}; SIn seed: i64, p; Var a, b;\nout[a, b] = {value};"
    library = "F.dropout(P, 0.125)" if value.startswith("where") and names == "P" else ""
    sizes = {"a": draw.size(64, 4096), "b": draw.size(256, 8192)}
    return Drawn(text, sizes, fillings={"p": "0.125"}, library=library, is_alike=False)


def bits(draw: Draw) -> Drawn:
    """Whole numbers are shifted and masked, and maybe scaled."""
    value = draw.one(
        "(W[a, b] & 15) - 8", "W[a, b] >> 4", "W[a, b] ^ (W[a, b] >> 1)", "(W[a, b] << 3) | 5"
    )
    kind = draw.one("u8", "i32", "i16")
    if draw.chance():
        text = f"Func out; In W: {kind}, S; Var a, b;\n"
        text += f"out[a, b] = ({value}) * reshape(S[a], a, 1);"
    else:
        text = f"Func out: {kind}; In W: {kind}; Var a, b;\nout[a, b] = {value};"
    return Drawn(text, draw.sizes(("a", "b"), 1 << draw.one(21, 24)))


def unpacked(draw: Draw) -> Drawn:
    """Numbers of four bits become floats."""
    kind, group = draw.one("i4", "u4"), draw.one(32, 64, 128)
    text = (
        f"Func out; In W: {kind} packed k, S; Var n, k;\nout[n, k] = W[n, k] * S[n, k // {group}];"
    )
    sizes = {"n": draw.size(256, 4096), "k": draw.size(1024, 8192, group)}
    return Drawn(text, sizes, multiples={"k": group})


def upsampled(draw: Draw) -> Drawn:
    """Elements are repeated, or two tensors are interleaved."""
    factor = draw.one(2, 3, 4)
    text = f"Func out; In P; Var z, h, w;\nout[z, h, w] = P[z, h // {factor}, w // {factor}];"
    sizes = {x: draw.size(64, 1024, factor) for x in "hw"} | {"z": draw.size(4, 64)}
    library = f"F.interpolate(P[None], scale_factor={factor}, mode='nearest')[0]"
    if draw.chance(0.4):
        text = "Func out; In P, Q; Var z, h, w;\n"
        text += "out[z, h, w] = where(w % 2 == 0, P[z, h, w // 2], Q[z, h, w // 2]);"
        sizes, factor = sizes | {"w": draw.size(128, 2048, 2)}, 2
        library = "torch.stack((P, Q), -1).flatten(-2)"
    return Drawn(text, sizes, multiples={"h": factor, "w": factor}, library=library)


def shuffled(draw: Draw) -> Drawn:
    """Channels become pixels."""
    r = draw.one(2, 3, 4)
    text = "Func out; In P; Var z, c, h, w;\n"
    text += f"out[z, c, h, w] = P[z, {r * r} * c + {r} * (h % {r}) + w % {r}, h // {r}, w // {r}];"
    sizes = {"z": draw.size(1, 16), "c": draw.size(1, 32)}
    sizes |= {x: draw.size(64, 512, r) for x in "hw"}
    return Drawn(text, sizes, multiples={"h": r, "w": r}, library=f"F.pixel_shuffle(P, {r})")


def rotated(draw: Draw) -> Drawn:
    """Halves of a row are turned by angles: two results, or one that is interleaved."""
    text = (
        "Func first, second; In P, Q, C, S; Var t, h, d;\n"
        "first[t, h, d] = P[t, h, d] * reshape(C[t, d], t, 1, d)"
        " - Q[t, h, d] * reshape(S[t, d], t, 1, d);\n"
        "second[t, h, d] = Q[t, h, d] * reshape(C[t, d], t, 1, d)"
        " + P[t, h, d] * reshape(S[t, d], t, 1, d);\n"
        "first.compile(second);"
    )
    sizes = {"t": draw.size(512, 8192), "h": draw.size(4, 32), "d": draw.one(32, 48, 64)}
    return Drawn(text, sizes)


FAMILIES = (
    Family("pointwise", pointwise),
    Family("broadcast", broadcast),
    Family("outer", outer),
    Family("gated", gated),
    Family("permuted", permuted),
    Family("masked", masked),
    Family("stepped", stepped),
    Family("dropout", dropout),
    Family("bits", bits),
    Family("unpacked", unpacked),
    Family("upsampled", upsampled),
    Family("shuffled", shuffled, is_held_out=True),
    Family("rotated", rotated),
)

"""Makes random products whose labels are shorter than axes that they read, by descriptors."""

from random import Random

SIZES = (1, 3, 8, 16, 24, 31, 33, 40, 64)


def random_shifted(seed: int) -> str:
    """Products of tensors that labels read as they are, shifted, padded, or in several ways.

    Shifts are multiples of 16 bytes, which Triton's interpreter wants of blocks.
    """
    random = Random(f"shifted {seed}")
    turned = {name: random.random() < 0.3 for name in "AB"}

    def index(label: str, share: float) -> str:
        return f"{label} + 8" if random.random() < share else label

    def read(tensor: str, label: str) -> str:
        indices = [index(label, 0.15), index("k", 0.5)]
        if turned[tensor]:
            indices.reverse()
        name = f"pad({tensor}, 0)" if random.random() < 0.15 else tensor
        return f"{name}[{', '.join(indices)}]"

    def product() -> str:
        other = random.choice("ABBB")
        return f"rdot({read('A', 'm')}, {read(other, 'n')}, k)"

    terms = [product() for _ in range(random.choice((1, 1, 2)))]
    if random.random() < 0.4:
        terms.append(f"reshape(rsum({read('A', 'm')}, k), m, 1)")
    if random.random() < 0.2:
        terms.append(f"C[m, {index('n', 0.5)}]")
    body = " + ".join(terms)
    more = f"g[m] = rsum({read('A', 'm')}, k); g.compile();" if random.random() < 0.4 else ""
    inputs = [name for name in "ABC" if f"{name}[" in body or f"pad({name}" in body]
    block, step = random.choice((16, 32)), random.choice((16, 32))
    said = [
        *(f"block(m:{block}, n:{block})", f"tensorize(m:0, n:0, k:{step})"),
        f"descriptor({random.choice(('A', 'A, f', ', '.join(inputs), ', '.join([*inputs, 'f'])))})",
        *(word for word in ("persistent()", "early()") if random.random() < 0.3),
        "compile()",
    ]
    told = " ".join(f"f.{one};" for one in said)
    funcs = "f, g" if more else "f"
    head = f"Func {funcs}; In {', '.join(inputs)}; Var m, n; RVar k;"
    return f"{head} f[m, n] = {body}; {more} {told}"

"""Makes small .dt texts of many kinds, with declared types, casts and reductions."""

from random import Random

TYPES = ("u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "bool", "f8e4m3", "f8e5m2")
BINARY = ("+", "-", "*", "/", "%", "<", "==")
CALLS = ("maximum", "minimum", "fdiv", "cdiv", "pow", "div_rn")
UNARY = ("abs", "exp", "sqrt", "floor", "-", "not ")
REDUCTIONS = ("rsum", "rmax", "rmin", "rprod", "rany", "rall", "rargmax")
HEAD = "Func f; In A: {one}, B: {other}; Var x; RVar y;"
BLOCKS = (2, 4, 8, 16)


def typed_text(number: int) -> str:
    """Return a text; some of the texts have types that are not allowed."""
    random = Random(f"typed {number}")
    one = random.choice(TYPES)
    other = one if random.random() < 0.6 else random.choice(TYPES)
    block = random.choice(BLOCKS)
    head = HEAD.format(one=one, other=other)
    if random.random() < 0.5:
        body = _elementwise(random, "A[x]", "B[x]")
        tiles = "x:0"
        read = f"f[x] = {body};"
    else:
        inner = _elementwise(random, "A[x, y]", "B[x, y]") if random.random() < 0.4 else "A[x, y]"
        body = f"{random.choice(REDUCTIONS)}({inner}, y)"
        read = f"f[x] = {_casts(random, f'{body} + {body}' if random.random() < 0.3 else body)};"
        tiles = random.choice(("x:0, y:0", "x:0, y:4", "x:0"))
    if "B[" not in read:
        head = head.replace(f", B: {other}", "")
    if "y" not in read:
        head = head.replace(" RVar y;", "")
    return f"{head}\n{read}\nf.block(x:{block});\nf.tensorize({tiles});\nf.compile();\n"


def _casts(random: Random, text: str) -> str:
    for _ in range(random.choice((0, 1, 1, 2))):
        text = f"cast({text}, {random.choice(TYPES)})"
    return text


def _elementwise(random: Random, one: str, other: str) -> str:
    match random.randrange(4):
        case 0:
            text = f"{random.choice(CALLS)}({_casts(random, one)}, {other})"
        case 1:
            sign = random.choice(UNARY)
            text = f"{sign}({one})" if sign[-1:].isalpha() else f"({sign}{one})"
        case _:
            text = f"({_casts(random, one)} {random.choice(BINARY)} {_casts(random, other)})"
    text = _casts(random, text)
    if random.random() < 0.5:
        text = f"{text} {random.choice(BINARY[:4])} {random.choice(('2', '3.0', '1', other))}"
    return text

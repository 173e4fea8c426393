"""Makes random stencils that each block computes again for itself, with a schedule."""

from random import Random

SIZES = {"x": (1, 2, 3, 5, 8, 9, 13, 17, 33), "y": (1, 2, 3, 5, 8, 9, 13), "k": (0, 1, 3)}


def random_stencil(seed: int) -> str:
    """Places before, beyond and between those of a block, in blocks, groups and parts of loops."""
    random = Random(f"stencil {seed}")
    labels = ["x", "y"] if random.random() < 0.5 else ["x"]
    all_labels = ", ".join(labels)

    def index(label: str) -> str:
        shifts = ("{}", "{} - 1", "{} + 1", "{} - 5", "2 * {}", "2 * {} - 3", "{} - 1")
        return random.choice(shifts).format(label)

    def read(name: str) -> str:
        return f"pad({name}, {random.choice((0, 1))})[{', '.join(map(index, labels))}]"

    is_sum = random.random() < 0.3
    body = f"rsum(A[{all_labels}, k], k)" if is_sum else f"A[{all_labels}] * 2"
    bodies = {"g": body, "f": " + ".join(read("g") for _ in range(random.choice((1, 1, 2))))}
    if random.random() < 0.3:
        bodies["h"] = f"{read('f')} + B[{all_labels}]"
    *fused, top = bodies
    bodies[top] += f" + B[{all_labels}]" if "B[" not in bodies[top] else ""

    def each(*numbers: object) -> str:
        return ", ".join(f"{label}:{random.choice(numbers)}" for label in labels)

    said = [f"block({each(2, 4, 6, 8, 16)})"] if random.random() < 0.9 else []
    said.append(f"tensorize({each(0, 0, 2, 2)})")
    chance = random.random()
    if chance < 0.35:
        said.append(f"map(x:xi/{random.choice((2, 3))}, {', '.join([*labels[1:], 'xi'])})")
    elif chance < 0.5 and len(labels) > 1:
        said.append("map(y:yi/2, x:xi/3, yi, xi)")
    at = random.choice(labels)
    if random.random() < 0.35:
        said.append(f"split({random.choice(labels)}:q/{random.choice((2, 4, 8))})")
        at = random.choice((at, "q"))
    if len(labels) > 1 and random.random() < 0.3:
        said.append(f"reorder({random.choice(('x, y', 'y, x'))})")
    said += ["persistent()"] * (random.random() < 0.2) + ["unroll(x:2)"] * (random.random() < 0.2)
    told = [f"{top}.{one};" for one in said]
    told += [f"{one}.fuse_at({top}, {at}, recompute);" for one in fused]
    funcs = " ".join(f"{name}[{all_labels}] = {text};" for name, text in bodies.items())
    sums = " RVar k;" if is_sum else ""
    head = f"Func {', '.join(bodies)}; In A, B; Var {all_labels};{sums}"
    return f"{head} {funcs} {' '.join(told)} {top}.compile();"

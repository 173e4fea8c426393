"""Makes hostile command lines, from a seed."""

from collections.abc import Callable
from random import Random

from tests.attack.hostile_bytes import NUMBERS, WORDS
from tests.attack.hostile_files import FILES, Folder, odd_path

Words = tuple[str, ...]
SIZES = (
    *("x=4,y=100", "m=64,n=64,k=32", "x=3", "x=0,y=0", "x=-1,y=2", "x=4,y=99999999999999999999"),
    *("x=4,x=5,y=1", "x", "x=", "=4", "x=4;y=5", "x=1e3,y=2", "x=\u0664,y=2", ","),
    "x=4,y=100,z=1",
    *(
        "x=100000,y=100000",
        "x=2147483647,y=2147483647",
        "x=1_0,y=2",
        " x = 4 , y = 5 ",
        "x=0x4,y=2",
    ),
)
DIRECTIVES = (
    *("softmax.num_warps(8)", "softmax.block(x:32)", "total.fuse_at(softmax, y)", "softmax.map()"),
    *("f.block(x:4)", "softmax.block(x:0)", "softmax.nothing()", "softmax.block(q:4)", ";", ""),
    *("softmax.block(x:4); softmax.block(x:8)", "Func g;", "softmax.tensorize(x:0, y:99999999999)"),
)
FUNCS = ("softmax", "total", "attention", "mm", "nobody", "", "A", "x", "\x00", "softmax\n")
STAGES = ("ast", "program", "deps", "tree", "map", "isl-ast", "triton", "schedule", "x")
# How often, and the words; names in braces are filled in.
TEMPLATES: tuple[tuple[int, str], ...] = (
    (14, "check {dt}"),
    (4, "check {dt} {dts} {tuned}"),
    (2, "check --json {dt}"),
    (2, "check --sarif {dt}"),
    (3, "check --point {directive} {dts}"),
    (6, "compile {dt} -o {out}"),
    (2, "compile {dt} --no-verify -o {out} --test {size}"),
    (1, "compile {dt} --func {func} -o -"),
    (8, "why-not {dt} {directive}"),
    (3, "why-not --json {dt} {directive}"),
    (4, "legal {dt} {func}"),
    (3, "schedule {dt} --budget 0 --list 2 --size {size}"),
    (6, "space {dts}"),
    (4, "space --count --json {tuned}"),
    (3, "space --sample {number} --seed {number} {dts}"),
    (3, "space --list {dts}"),
    (10, "verify {dt} --kernel {py}"),
    (3, "verify {dt} --kernel {py} --func {func} --json"),
    (6, "verify {dt} --check {proof}"),
    (3, "verify {dt} --kernel {py} --check {proof}"),
    (2, "verify {dt} --certificate {out}"),
    (1, "verify {dt} --fuse-at"),
    (6, "fmt {dt}"),
    (3, "fmt --check {dt} {dts}"),
    (3, "fmt --diff {dt}"),
    (5, "show --stage {stage} {dt}"),
    (3, "show --stage {stage} --size {size} {dt} --json"),
    (2, "show --stage map --size {size} {dt} -o {out}"),
    (4, "explain {dt} --size {size}"),
    (2, "explain {dt} --code"),
    (2, "explain {dt} --tuned {tuned} --json"),
    (5, "cost {dt} --size {size}"),
    (2, "cost {dt} --size {size} --json --dtype {func}"),
    (5, "run --reference {dt} --size {size}"),
    (2, "run --reference {dt} --size {size} --seed {number} --memory {number}"),
    (8, "report {store} -o {page}"),
    (6, "ship {store} -o {tuned} --algorithm {dt}"),
    (2, "ship {store} -o {out} --algorithm {dt}"),
    (1, "{func} {dt}"),
    (1, "check"),
    (1, "show --stage {func} {dt}"),
    (1, "check --plugin {dt} {dt}"),
)
# The commands that these words name.
NAMED = {line.split()[0] for _, line in TEMPLATES} - {"{func}"}
_WEIGHTS = [weight for weight, _ in TEMPLATES]
_LINES = [line for _, line in TEMPLATES]


def command_line(folder: Folder, random: Random) -> Words:
    """Return the words of a command."""
    (line,) = random.choices(_LINES, _WEIGHTS)
    words = [_filled(word, folder, random) for word in line.split()]
    if random.random() < 0.03:
        words.insert(random.randrange(len(words) + 1), random.choice((*WORDS, "-h", "--json")))
    return tuple(words)


def _filled(word: str, folder: Folder, random: Random) -> str:
    if not word.startswith("{"):
        return word
    kind = word[1:-1]
    if kind in FILES:
        return _path(kind, folder, random)
    choices: dict[str, Callable[[], str]] = {
        "out": lambda: _output(folder, random, ".py"),
        "page": lambda: _output(folder, random, ".html"),
        "func": lambda: random.choice(FUNCS),
        "directive": lambda: _text(random.choice(DIRECTIVES), folder, random),
        "size": lambda: _text(random.choice(SIZES), folder, random),
        "stage": lambda: random.choice(STAGES),
        "number": lambda: random.choice(("1", "3", *NUMBERS)),
    }
    return choices[kind]()


def _path(kind: str, folder: Folder, random: Random) -> str:
    if random.random() < 0.12:
        return odd_path(folder, kind, random)
    return random.choice(FILES[kind])


def _output(folder: Folder, random: Random, suffix: str) -> str:
    match random.randrange(8):
        case 0:
            (folder.path / f"old{suffix}").write_text("what was there before\n")
            return f"old{suffix}"
        case 1:
            return random.choice(("/dev/null", "-", ".", "no/such/folder" + suffix, "", "\x00"))
        case _:
            return f"new{suffix}"


def _text(text: str, folder: Folder, random: Random) -> str:
    if random.random() < 0.8:
        return text
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice((*WORDS, *NUMBERS, *folder.payloads)) + text[at:]

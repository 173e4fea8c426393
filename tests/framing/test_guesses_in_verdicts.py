"""A verdict names each guess that a frame was made with: kernels that are wrong elsewhere say so.

Each kernel is right for what was launched, and wrong for other launches that a caller may make. Its
frame is guessed from the launches, and the verdict of the later proof must name the guess.
"""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here
from tests.framing.records import FRAME, MODULE, RecordedKernel, framed, tensor

__all__ = ["call", "here"]

PRIMES = (131, 1031, 4099)
COPY = """\
def k(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
"""


def copied(grid: int | None = None) -> RecordedKernel:
    return RecordedKernel(
        COPY,
        [((grid or -(-n // 1024),), (tensor(n), tensor(n), n, 1024)) for n in PRIMES],
        ("B",),
    )


def power(n: int) -> int:
    return 1 << (n - 1).bit_length()


# What is wrong elsewhere, and what of that the verdict says.
CASES = {
    "more elements than 32 bits count": (copied(), "callers keep these promises"),
    "a grid that the wrapper bounds": (copied(), "axis 0 of the grid was cdiv(len(n), 1024)"),
    "other numbers of columns": (
        RecordedKernel(
            "def k(x, y):\n"
            "    at = tl.program_id(0).to(tl.int64) * 64 + tl.arange(0, 64)\n"
            "    tl.store(y + at, tl.load(x + at))\n",
            [((r,), (tensor(r, 64), tensor(r, 64))) for r in (3, 7, 11)],
        ),
        "axis 1 of x[r, 64] always has size 64",
    ),
    "more than one program": (
        RecordedKernel(
            "def k(x, y, n, B: tl.constexpr):\n"
            "    at = tl.arange(0, B)\n"
            "    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)\n",
            [((1,), (tensor(n), tensor(n), n, power(n))) for n in (131, 257, 1031)],
            ("B",),
        ),
        "axis 0 of the grid was 1",
    ),
    "an axis of size 1": (
        RecordedKernel(
            "def k(x, y, n, B: tl.constexpr):\n"
            "    at = tl.arange(0, B)\n"
            "    row = tl.program_id(0).to(tl.int64) * n\n"
            "    tl.store(y + row + at, tl.load(x + at, mask=at < n), mask=at < n)\n",
            [
                ((r,), (tensor(1, n), tensor(r, n), n, power(n)))
                for r, n in ((3, 131), (7, 257), (11, 1031))
            ],
            ("B",),
        ),
        "axis 0 of the 2 axes of 'x' always has size 1",
    ),
    "an axis of stride 0": (
        RecordedKernel(
            "def k(x, y, n, B: tl.constexpr):\n"
            "    at = tl.arange(0, B)\n"
            "    row = tl.program_id(0).to(tl.int64) * n\n"
            "    tl.store(y + row + at, tl.load(x + at, mask=at < n), mask=at < n)\n",
            [
                ((r,), (tensor(r, n, strides=(0, 1)), tensor(r, n), n, power(n)))
                for r, n in ((3, 131), (7, 257), (11, 1031))
            ],
            ("B",),
        ),
        "axis 0 of the 2 axes of 'x' always has stride 0",
    ),
    "two tensors that were one": (
        RecordedKernel(
            COPY,
            [
                ((-(-n // 1024),), (tensor(n, storage=1), tensor(n, storage=1), n, 1024))
                for n in PRIMES
            ],
            ("B",),
        ),
        "'x' and 'y' are always given one tensor, 'y'",
    ),
    "tensors that share memory": (copied(), "no two tensors share memory"),
    "two sizes that were equal": (
        RecordedKernel(
            "def k(x, w, y, n, B: tl.constexpr):\n"
            "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
            "    both = tl.load(x + at, mask=at < n) + tl.load(w + at, mask=at < n)\n"
            "    tl.store(y + at, both, mask=at < n)\n",
            [((-(-n // 256),), (tensor(n), tensor(n), tensor(n), n, 256)) for n in PRIMES],
            ("B",),
        ),
        "the sizes of axis 0 of x[n], axis 0 of w[n] and axis 0 of y[n] are always equal",
    ),
    "a number that was a size": (copied(), "'n' was len(n)"),
    "dtypes that were all f32": (copied(), "'x' and 'y' are always f32"),
    "a tile of another size": (copied(), "'B' was 1024"),
    "a branch that no launch took": (
        RecordedKernel(
            "def k(x, y, n, SHIFT: tl.constexpr, B: tl.constexpr):\n"
            "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
            "    if SHIFT:\n"
            "        value = tl.load(x + at + 1, mask=at < n)\n"
            "    else:\n"
            "        value = tl.load(x + at, mask=at < n)\n"
            "    tl.store(y + at, value, mask=at < n)\n",
            [((-(-n // 1024),), (tensor(n), tensor(n), n, False, 1024)) for n in PRIMES],
            ("SHIFT", "B"),
        ),
        "'SHIFT' was False",
    ),
    "a tensor that was None": (
        RecordedKernel(
            "def k(x, w, y, n, B: tl.constexpr):\n"
            "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
            "    value = tl.load(x + at, mask=at < n)\n"
            "    if w is not None:\n"
            "        value = value + tl.load(w + at + 1, mask=at < n)\n"
            "    tl.store(y + at, value, mask=at < n)\n",
            [((-(-n // 1024),), (tensor(n), None, tensor(n), n, 1024)) for n in PRIMES],
            ("B",),
        ),
        "'w' was None",
    ),
    "a tensor with gaps": (copied(), "always those of contiguous tensors: 0 of x[n] and 0 of y[n]"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_guess_is_named(case: str, call: Entry, here: Path) -> None:
    kernel, said = CASES[case]
    text = framed(call, here, kernel)
    code, out, err = call("verify", FRAME)
    assert code == 0, out + err + text
    guessed = [line for line in out.splitlines() if "assumed: guessed from launches: " in line]
    assert any(said in line for line in guessed), out


def test_data_and_logs_name_guesses(call: Entry, here: Path) -> None:
    framed(call, here, copied())
    assumed = json.loads(call("verify", FRAME, "--json")[1])["functions"][0]["assumed"]
    assert any(one.startswith("guessed from launches: callers keep") for one in assumed)
    (run,) = json.loads(call("verify", FRAME, "--sarif")[1])["runs"]
    (invocation,) = run["invocations"]
    noted = [one["message"]["text"] for one in invocation["toolExecutionNotifications"]]
    assert noted == [f"y, assumed: {one}" for one in assumed]


def test_a_guess_that_was_looked_at_is_removed_and_the_launch_stays(
    call: Entry, here: Path
) -> None:
    text = framed(call, here, copied())
    guess = "# guessed: 'x' and 'y' are always f32\n"
    assert guess in text
    (here / FRAME).write_text(text.replace(guess, ""))
    out = call("verify", FRAME)[1]
    assert "guessed from launches: 'x' and 'y' are always f32" not in out
    assert "guessed from launches: the strides of these axes are always those of" in out
    kept = [
        line for line in text.splitlines() if line.startswith(("# kernel", "# t", "# v", "# a"))
    ]
    (here / FRAME).write_text("\n".join([*kept, ""]))
    out = call("verify", FRAME)[1]
    assert "guessed" not in out
    # What is proved is a proof of these launches, whoever wrote the lines.
    assert "assumed: callers pass x[n]: f32, out(y[n]: f32); each stride" in out
    assert "assumed: each launch has this grid, these constants and these arguments: k[" in out
    assert "assumed: len(n) <= 2**30" in out


def test_guesses_go_along_with_a_kernel(call: Entry, here: Path) -> None:
    text = framed(call, here, copied())
    said = "guessed from launches: 'x' and 'y' are always f32"
    # The lines are written into the module, above the kernel.
    module = (here / MODULE).read_text()
    lines = "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("# kernel"))
    (here / MODULE).write_text(module.replace("@triton.jit", f"{lines}@triton.jit"))
    assert said in call("verify", "--kernel", f"{MODULE}::k")[1]
    # The kernel is taken out, and verified without the file.
    call("verify", "--kernel", f"{MODULE}::k", "--extract", "out.py")
    assert said in (here / "out.py").read_text().replace("# guessed: ", "guessed from launches: ")
    (here / "t.dt").write_text("# tensors: x[n], out(y[n])\n")
    code, out, err = call("verify", "t.dt", "--kernel", "out.py")
    assert code == 0, out + err
    assert said in out


def test_a_guess_over_several_lines_is_one(call: Entry, here: Path) -> None:
    text = framed(call, here, copied())
    assert any(line.startswith("#     ") for line in text.splitlines())
    (line,) = [one for one in call("verify", FRAME)[1].splitlines() if "'n' was len(n)" in one]
    assert line.endswith("that a number follows from sizes may be a coincidence")


def test_other_memory_is_another_launch(call: Entry, here: Path) -> None:
    """Tensors that share memory in one launch of several of the same sizes are told."""
    apart = (tensor(131, storage=0), tensor(131, storage=1), 131, 1024)
    shared = (tensor(131, storage=0), tensor(131, storage=0, address=4), 131, 1024)
    text = framed(call, here, RecordedKernel(COPY, [((1,), apart), ((1,), shared)], ("B",)))
    assert "# guessed: 'x' and 'y' shared memory" in text


def test_an_answer_about_bits_names_guesses(call: Entry, here: Path) -> None:
    (here / "rows.dt").write_text(
        "# kernel: kernels.py::k\n"
        "# guessed: 'x' is always f32\n"
        "# verify: k[(len(r),)](x, y, len(n), B=next_power_of_2(len(n)))\n"
        "# assume: len(n) <= 1024, reach(x) < 2**31, reach(y) < 2**31\n"
        "Func y; In x; Var r, n;\n"
        "y[r, n] = 2 * x[r, n];\n"
        "y.compile();\n"
    )
    RecordedKernel(
        "def k(x, y, n, B: tl.constexpr):\n"
        "    at = tl.arange(0, B)\n"
        "    row = tl.program_id(0) * n\n"
        "    tl.store(y + row + at, 2.0 * tl.load(x + row + at, mask=at < n), mask=at < n)\n",
        [],
    ).put(here)
    code, out, err = call("verify", "rows.dt", "--bits", "r")
    assert code == 0, out + err
    said = (
        "guessed from launches: 'x' is always f32",
        "each launch has this grid, these constants and these arguments: k[len(r),](",
        "reach(x) < 2**31",
    )
    assert [one for one in said if f"y, assumed: {one}" not in out and one not in out] == []
    (data,) = json.loads(call("verify", "rows.dt", "--bits", "r", "--json")[1])["functions"]
    assert said[0] in data["launches"]

"""A frame says no more of launches than they show: what differed is no constant, and so on.

Each of these launches was once framed by something that one of them was not.
"""

import sys
from pathlib import Path

import pytest
import torch

from dtpoly.framing.torch_tracing import NotTraced, check_options
from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here
from tests.framing.records import FRAME, MODULE, RECORD, RecordedKernel, framed, tensor

__all__ = ["call", "here"]

# The wrong branch is taken where the number is another one.
BY_NUMBER = """\
def k(x, y, n, scale{kind}, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    if scale == 0.5:
        value = tl.load(x + at, mask=at < n)
    else:
        value = tl.load(x + at + 1, mask=at < n)
    tl.store(y + at, value, mask=at < n)
"""
ROWS = """\
def k(x, s, y, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    value = tl.load(x + row * s + at, mask=at < n)
    tl.store(y + row * n + at, value, mask=at < n)
"""
LARGE = """\
def k(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * n + at, mask=at < n)
    tl.store(y + row * n + at, value, mask=at < n)
"""


def by_number(kind: str, scales: tuple[float, ...]) -> RecordedKernel:
    return RecordedKernel(
        BY_NUMBER.format(kind=kind),
        [
            ((-(-n // 64),), (tensor(n), tensor(n), n, scale, 64))
            for n, scale in zip((131, 257, 1031), scales, strict=True)
        ],
        ("scale", "B") if kind else ("B",),
    )


def verdict(call: Entry, path: str = FRAME) -> str:
    return "PROVED" if call("verify", path)[0] == 0 else "not proved"


def test_constants_that_differ_have_frames_of_their_own(call: Entry, here: Path) -> None:
    text = framed(call, here, by_number(": tl.constexpr", (0.5, 0.25, 0.5)))
    assert "scale=0.5" in text
    assert verdict(call) == "PROVED"
    assert "scale=0.25" in (here / "frame_2.dt").read_text()
    assert verdict(call, "frame_2.dt") == "not proved"


def test_numbers_that_differ_are_no_constants(call: Entry, here: Path) -> None:
    text = framed(call, here, by_number("", (0.5, 0.25, 0.5)))
    assert ", scale, " in text.partition("# verify:")[2]
    assert verdict(call) == "not proved"


def test_a_number_that_did_not_differ_may_be_one_and_is_named(call: Entry, here: Path) -> None:
    framed(call, here, by_number("", (0.5, 0.5, 0.5)))
    code, out, _ = call("verify", FRAME)
    assert code == 1 or "'scale' was 0.5" in out


def test_a_number_that_is_no_float_in_each_launch_is_named(call: Entry, here: Path) -> None:
    framed(call, here, by_number("", (0.5, 1, 0.25)))
    said = "'scale' was now a float and now a whole number: this frame has a float"
    assert f"guessed from launches: {said}" in call("verify", FRAME)[1]


@pytest.mark.parametrize(
    ("strides", "said"),
    [
        ((2, 2), "'x' was not contiguous, but no argument is the stride of axis 1 of x[r, n]"),
        ((4, 1), "always those of contiguous tensors: 1 of x[r, n] and 0 and 1 of y[r, n]"),
    ],
    ids=["gaps between elements", "gaps between rows"],
)
def test_strides_that_no_argument_is_are_named(
    strides: tuple[int, int], said: str, call: Entry, here: Path
) -> None:
    between, step = strides

    def given(r: int, n: int) -> tuple[object, ...]:
        row = n * between
        power = 1 << (n - 1).bit_length()
        return tensor(r, n, strides=(row, step)), row, tensor(r, n), n, power

    kernel = RecordedKernel(
        ROWS,
        [((r,), given(r, n)) for r, n in ((7, 131), (11, 257), (5, 1031))],  # type: ignore[misc]
        ("B",),
    )
    text = framed(call, here, kernel)
    assert "x.stride(0)" in text
    assert said in " ".join(call("verify", FRAME)[1].split())


def test_promises_that_a_launch_broke_are_not_guessed(call: Entry, here: Path) -> None:
    def kernel(rows: int) -> RecordedKernel:
        sizes = ((7, 131), (11, 257), (rows, 1031))
        return RecordedKernel(
            LARGE,
            [((r,), (tensor(r, n), tensor(r, n), n, 1 << (n - 1).bit_length())) for r, n in sizes],
            ("B",),
        )

    assert "reach(x) < 2**31" in framed(call, here, kernel(5))
    assert verdict(call) == "PROVED"
    assert "reach(" not in framed(call, here, kernel(2_100_000))
    assert verdict(call) == "not proved"


def test_finite_values_are_no_fact_of_launches(call: Entry, here: Path) -> None:
    framed(call, here, by_number("", (0.5, 0.25, 0.5)))
    lines = (here / FRAME).read_text().splitlines()
    kept = [line for line in lines if "callers keep these promises" in line]
    assert kept
    assert "finite" not in kept[0]
    assert any("finite" in line for line in lines if line.startswith("# guessed: values"))


def test_a_square_that_was_transposed_is_named(call: Entry, here: Path) -> None:
    kernel = RecordedKernel(
        "def k(x, y, n, B: tl.constexpr):\n"
        "    row = tl.program_id(0).to(tl.int64)\n"
        "    at = tl.arange(0, B)\n"
        "    value = tl.load(x + row * n + at, mask=at < n)\n"
        "    tl.store(y + row * n + at, value, mask=at < n)\n",
        [
            ((n,), (tensor(n, n, strides=(1, n)), tensor(n, n), n, 1 << (n - 1).bit_length()))
            for n in (131, 257, 1031)
        ],
        ("B",),
    )
    framed(call, here, kernel)
    assert "the 2 axes of 'x' always lie in memory as those of x[" in call("verify", FRAME)[1]


def test_names_of_the_module_that_differ_have_frames_of_their_own(call: Entry, here: Path) -> None:
    kernel = by_number("", (0.5, 0.5, 0.5))
    kernel.put(here)
    module = (
        (here / MODULE).read_text().replace("import triton\n", "import triton\nfrom a import L\n")
    )
    (here / MODULE).write_text(module.replace("at + 1", "at + L"))
    record = (here / RECORD).read_text()
    (here / RECORD).write_text(
        record.replace('"names": {}', '"names": {"L": "0"}', 1).replace(
            '"names": {}', '"names": {"L": "1"}'
        )
    )
    call("verify", "--init", f"{MODULE}::k", "--watched", RECORD, "-o", FRAME)
    texts = [(here / one).read_text() for one in (FRAME, "frame_2.dt")]
    assert ["# name: L = 0\n" in texts[0], "# name: L = 1\n" in texts[1]] == [True, True]
    assert (
        "guessed from launches: while the kernels ran, these names of the module were: 'L' 1"
        in (call("verify", "frame_2.dt")[1])
    )


def test_sizes_that_are_made_of_others_which_are_so_too(call: Entry, here: Path) -> None:
    """The last axis of x is twice that of w, which is twice that of v."""
    text = (
        "def k(x, w, v, y, B: tl.constexpr):\n"
        "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
        "    tl.store(y + at, 0.0)\n"
    )
    given = [
        ((n,), (tensor(7 + n, 4 * n), tensor(2 * n), tensor(n), tensor(n), 1)) for n in (11, 13, 17)
    ]
    text = framed(call, here, RecordedKernel(text, given, ("B",)))
    assert "w[2, n]" in text
    assert verdict(call) == "PROVED"


def test_a_kernel_that_has_changed_since_is_an_error(call: Entry, here: Path) -> None:
    by_number("", (0.5, 0.5, 0.5)).put(here)
    module = (here / MODULE).read_text()
    (here / MODULE).write_text(module.replace("def k(x, y, n,", "def k(x, y, more, n,"))
    code, out, err = call("verify", "--init", f"{MODULE}::k", "--watched", RECORD, "-o", FRAME)
    assert code == 1
    assert "Traceback" not in out + err
    assert verdict(call) == "not proved"


TRACED = """\
import torch


def copied(x):
    return x * 1.0


def truncated(x):
    return x.to(torch.int32).to(torch.float32)


def divided(x):
    return torch.div(x, 1.0, rounding_mode="floor")
"""


def test_options_that_change_values_are_refused() -> None:
    check_options("aten.sum", {"dtype": torch.float16, "keepdim": True, "other": None})
    with pytest.raises(NotTraced, match="makes int32 of its values"):
        check_options("aten._to_copy", {"dtype": torch.int32})
    with pytest.raises(NotTraced, match="is told 'rounding_mode'"):
        check_options("aten.div", {"rounding_mode": "floor"})


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("truncated", "'aten._to_copy' makes int32 of its values"),
        ("divided", "'aten.div' is told 'rounding_mode', which has no meaning here"),
    ],
)
def test_an_option_that_changes_values_is_refused(
    name: str, why: str, call: Entry, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_number("", (0.5, 0.5, 0.5)).put(here)
    module = f"traced_{abs(hash(here))}"
    (here / f"{module}.py").write_text(TRACED)
    monkeypatch.setattr("sys.path", [str(here), *sys.path])
    code, _, err = call(
        *("verify", "--init", f"{MODULE}::k", "--watched", RECORD, "-o", FRAME),
        *("--against", f"torch:{module}.{name}"),
    )
    assert code == 1
    assert why in " ".join(err.replace("|", " ").split())


@pytest.mark.long
def test_a_trace_names_what_was_traced(
    call: Entry, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "def k(x, y, n, B: tl.constexpr):\n" + "".join(
        f"    {line}\n"
        for line in (
            "at = tl.program_id(0) * B + tl.arange(0, B)",
            "tl.store(y + at, tl.load(x + at, mask=at < n) * 1.0, mask=at < n)",
        )
    )
    given = [((-(-n // 64),), (tensor(n), tensor(n), n, 64)) for n in (131, 257)]
    RecordedKernel(text, given, ("B",)).put(here)
    module = f"traced_{abs(hash(here))}"
    (here / f"{module}.py").write_text(TRACED)
    monkeypatch.setattr("sys.path", [str(here), *sys.path])
    code, out, err = call(
        *("verify", "--init", f"{MODULE}::k", "--watched", RECORD, "-o", FRAME),
        *("--against", f"torch:{module}.copied"),
    )
    assert code == 0, out + err
    out = call("verify", FRAME)[1]
    assert f"guessed from launches: the algorithm is what '{module}.copied' did with x of" in out
    assert "guessed from launches: the tensors of 'k' are those of" in out


def test_sizes_that_count_blocks_are_promised_and_named(call: Entry, here: Path) -> None:
    text = (
        "def k(x, s, y, n, B: tl.constexpr):\n"
        "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
        "    v = tl.load(x + at, mask=at < n, other=0.0)\n"
        "    scale = tl.clamp(tl.max(tl.abs(v), 0), min=1e-12, max=float('inf'))\n"
        "    tl.store(y + at, v / scale, mask=at < n)\n"
        "    tl.store(s + tl.program_id(0), scale)\n"
    )
    sizes = (131, 257, 1031)
    given = [((-(-n // 64),), (tensor(n), tensor(-(-n // 64)), tensor(n), n, 64)) for n in sizes]
    promise = "len(r) == cdiv(len(n), 64)"
    frame = framed(call, here, RecordedKernel(text, given, ("B",)))
    assert f"# assume: {promise}" in frame or f", {promise}" in frame, frame
    code, out, _ = call("verify", FRAME)
    assert code == 0
    assert any(promise in line for line in out.splitlines() if "guessed from launches" in line)


def test_an_axis_with_one_program_is_no_index(call: Entry, here: Path) -> None:
    """A second axis of the grid has one program: its id times a size is 0."""
    text = (
        "def k(x, y, n, B: tl.constexpr):\n"
        "    at = tl.arange(0, B)\n"
        "    row = tl.program_id(0).to(tl.int64) * n + tl.program_id(1) * n\n"
        "    tl.store(y + row + at, tl.load(x + row + at, mask=at < n), mask=at < n)\n"
    )
    sizes = ((7, 131), (11, 257), (5, 1031))
    given = [((r, 1), (tensor(r, n), tensor(r, n), n, 1 << (n - 1).bit_length())) for r, n in sizes]
    framed(call, here, RecordedKernel(text, given, ("B",)))
    code, out, _ = call("verify", FRAME)
    assert code == 0, out
    assert "axis 1 of the grid was 1" in out


ROWS_OF_64 = (
    "def k(x, y, B: tl.constexpr):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + at, tl.load(x + at))\n"
)


def test_tiles_without_a_mask_need_a_promise_about_sizes(call: Entry, here: Path) -> None:
    given = [((n // 64,), (tensor(n), tensor(n), 64)) for n in (128, 320, 1472)]
    frame = framed(call, here, RecordedKernel(ROWS_OF_64, given, ("B",)))
    assert "len(n) % 64 == 0" in frame or "len(r) % 64 == 0" in frame, frame
    assert call("verify", FRAME)[0] == 0


def test_a_promise_that_a_launch_broke_is_not_made(call: Entry, here: Path) -> None:
    given = [((-(-n // 64),), (tensor(n), tensor(n), 64)) for n in (128, 321, 1472)]
    frame = framed(call, here, RecordedKernel(ROWS_OF_64, given, ("B",)))
    assert "% 64" not in frame, frame
    assert call("verify", FRAME)[0] == 1


def test_sizes_that_count_pairs_are_promised(call: Entry, here: Path) -> None:
    """Two numbers of four bits lie in one of eight."""
    text = (
        "def k(x, y, n, B: tl.constexpr):\n"
        "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
        "    a = tl.load(x + at * 2, mask=at * 2 < n, other=0)\n"
        "    tl.store(y + at, a, mask=at < (n - n // 2))\n"
    )
    given = [((-(-n // 128),), (tensor(n), tensor(-(-n // 2)), n, 64)) for n in (131, 257, 1031)]
    frame = framed(call, here, RecordedKernel(text, given, ("B",)))
    assert call("verify", FRAME)[0] == 0, frame

"""Certificates: those of every listing are accepted, and forged ones are not."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NoReturn, cast

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source
from dtpoly.verify import checker
from dtpoly.verify.algebra import sets
from dtpoly.verify.algebra.notation import plain
from dtpoly.verify.algebra.regions import Region, WhereTrue
from dtpoly.verify.algebra.set_table import parts_of
from dtpoly.verify.checker import check_certificate, scripts
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.obligations import attempts, heading
from tests.cli.process import python_path
from tests.codegen.cases import random_case
from tests.verify.forgeries import BASES, KINDS, base_of, forged
from tests.verify.lying import points_everywhere
from tests.verify.texts import FILES, ROOT, program_of, text_of, written

ALL = (*FILES, ROOT / "examples/softmax.dt")
FORGERIES = 6 * len(KINDS)
RELU = ROOT / "tests/data/thesis/listing_3_05_relu.dt"
MATMUL = ROOT / "examples/matmul.dt"
ATTENTION = ROOT / "tests/data/thesis/listing_4_04_attention.dt"


def _is_accepted(path: Path) -> None:
    base = base_of(path)
    checked = check_certificate(base.certificate, base.dt, base.kernel)
    assert checked.complaints == ()
    assert checked.accepted
    assert checked.not_decided == 0
    assert checked.decided == sum(
        len(one["obligations"]) + len(one["inhabited"])
        for one in json.loads(base.certificate)["functions"]
    )


@pytest.mark.sampled
@pytest.mark.parametrize("path", [*BASES, ATTENTION], ids=lambda path: path.stem)
def test_it_is_accepted(path: Path) -> None:
    _is_accepted(path)


def test_a_kernel_of_some_funcs_is_told_from_one_of_all() -> None:
    algorithm = "Func f, g;\nIn A;\nVar x;\nf[x] = A[x] + A[x];\ng[x] = A[x] * A[x];\n"
    dt = f"{algorithm}f.compile();\ng.compile();\n"
    some = text_of(written(f"{algorithm}f.compile();\n"))
    checked = check_certificate(certificate(written(dt), dt, some), dt, some)
    assert checked.accepted
    assert "Funcs besides f" in checked.not_covered


def test_of_promises_that_nobody_can_keep_nothing_follows() -> None:
    """Whoever makes the certificate says that there are such calls, and all else is true of none.

    The kernel computes something else.
    """
    dt = "Func f;\nIn A: f32;\nVar x;\nf[x] = A[x] + 1;\n"
    kernel = (
        "import triton\nimport triton.language as tl\n\n"
        "# verify: kernel[(cdiv(len(x), 64),)](A, f, A.stride(0), f.stride(0), len(x))\n"
        "# assume: reach(A) < 2**31, reach(f) < 2**31, len(x) < 0\n\n\n"
        "@triton.jit\ndef kernel(a, f, stride_a, stride_f, n):\n"
        "    i = tl.program_id(0) * 64 + tl.arange(0, 64)\n"
        "    tl.store(f + i * stride_f, tl.load(a + i * stride_a) * 3.0)\n"
    )
    honest = json.loads(certificate(written(dt), dt, kernel))
    assert set(honest["functions"][0]["verdicts"].values()) == {"unknown"}
    with points_everywhere():
        forged = certificate(written(dt), dt, kernel)
    assert set(json.loads(forged)["functions"][0]["verdicts"].values()) == {"proved"}
    checked = check_certificate(forged, dt, kernel)
    assert not checked.accepted
    assert "it is not so that some call keeps what is assumed" in checked.complaints[0]


def test_what_a_certificate_says_is_told_in_one_line_that_prints() -> None:
    base = base_of(RELU)
    document = base.document()
    name = "\x1b[2Jf\naccepted: 95 sets decided, 0 not"
    document["functions"].append({**document["functions"][0], "name": name})
    checked = check_certificate(json.dumps(document), base.dt, base.kernel)
    assert checked.complaints == (
        "'\\x1b[2Jf\\naccepted: 95 sets decided, 0 not' is no function of the kernel",
    )
    document["functions"][-1]["name"] = "f" * 10_000
    checked = check_certificate(json.dumps(document), base.dt, base.kernel)
    assert len(checked.complaints[0]) < 1000


@pytest.mark.parametrize("key", ["021", "-1", "\u00b2", "", "1e0", " 1", "9999999999"])
def test_a_witness_names_its_set_as_it_is_written(key: str) -> None:
    base = base_of(MATMUL)
    document = base.document()
    document["functions"][0]["witnesses"][key] = []
    checked = check_certificate(json.dumps(document), base.dt, base.kernel)
    assert checked.complaints == ("a witness is of no set",)


def test_few_sets_that_are_not_decided_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever forges witnesses can make each question take all the time that it may."""
    asked = list[str]()

    def solve(script: str, _: float) -> tuple[str, str]:
        asked.append(script)
        return "unknown", "timeout"

    monkeypatch.setattr(checker, "solve", solve)
    base = base_of(MATMUL)
    checked = check_certificate(base.certificate, base.dt, base.kernel)
    assert not checked.accepted
    assert len(asked) == checked.not_decided == checker.MOST_OPEN
    assert checked.complaints[-1] == "so the other sets are not looked at"


def test_a_question_that_is_too_long_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "MOST_LINES", 2)
    base = base_of(MATMUL)
    checked = check_certificate(base.certificate, base.dt, base.kernel)
    assert not checked.accepted
    assert any("it has more than 2 parts" in one for one in checked.complaints)


@pytest.mark.long
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_that_of_each_listing_is_accepted(path: Path) -> None:
    _is_accepted(path)


def _is_rejected(seed: int) -> None:
    kind, made = forged(seed)
    checked = check_certificate(made.certificate, made.dt, made.kernel)
    assert not checked.accepted, kind
    assert checked.complaints, kind
    if kind.startswith("by_an_engine"):
        # The list is the one that is asked for: only z3 can say no.
        assert any("does not hold" in one for one in checked.complaints), checked.complaints


def test_there_are_200_forgeries_of_more_than_10_kinds() -> None:
    assert 200 - len(KINDS) <= FORGERIES
    assert len(KINDS) >= 35


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(len(KINDS)), ids=[*KINDS])
def test_a_forgery_is_rejected(seed: int) -> None:
    _is_rejected(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(len(KINDS), FORGERIES))
def test_every_forgery_is_rejected(seed: int) -> None:
    _is_rejected(seed)


@pytest.mark.long
def test_isl_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    base = base_of(MATMUL)

    def refuse(*_: object) -> NoReturn:
        raise AssertionError

    for one in ("is_empty", "polyhedra_of", "points_of", "smallest"):
        monkeypatch.setattr(sets, one, refuse)
    monkeypatch.setattr(isl.Set, "is_empty", refuse)
    assert check_certificate(base.certificate, base.dt, base.kernel).accepted


def _leaves(of: Region) -> list[WhereTrue]:
    if isinstance(of, WhereTrue):
        return [of]
    return [leaf for part in parts_of(of) for leaf in _leaves(part)]


@pytest.mark.sampled
@pytest.mark.parametrize("path", [*BASES, ATTENTION], ids=lambda path: path.stem)
def test_isl_reads_the_sets(path: Path) -> None:
    (found,) = attempts(program_of(path), text_of(program_of(path)), 60.0, lambda _: sets.is_empty)
    leaves = {leaf for one in found.run.obligations for leaf in _leaves(one.region)}
    assert leaves
    for leaf in leaves:
        said = found.table.entries[found.table.add(leaf)][1]
        read = isl.Set.read_from_str(sets.CONTEXT, str(said))
        wanted = sets.polyhedra_of(leaf)
        for one in sets.params_of(wanted):
            position = wanted.find_dim_by_name(sets.PARAM, one)
            wanted = wanted.set_dim_name(sets.PARAM, position, plain(one))
        assert read.is_equal(wanted)


@pytest.mark.long
def test_no_two_names_are_written_alike() -> None:
    for path in ALL:
        (found,) = attempts(
            program_of(path), text_of(program_of(path)), 60.0, lambda _: sets.is_empty
        )
        names = {one for o in found.run.obligations for one in o.region.names}
        assert len({plain(one) for one in names}) == len(names)


PRINTED = """
import sys
from pathlib import Path
from tests.codegen.cases import random_case
from tests.verify.forgeries import base_of
for path in sys.argv[1:]:
    sys.stdout.write(base_of(Path(path)).certificate)
"""


def _are_the_same(paths: Sequence[Path]) -> None:
    """Whoever checks a certificate is another process, with other addresses and hashes."""
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", PRINTED, *map(str, paths)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": python_path(ROOT)},
        )
        assert done.stdout == "".join(base_of(path).certificate for path in paths)


@pytest.mark.long
def test_it_is_the_same_in_every_process() -> None:
    _are_the_same([MATMUL])


@pytest.mark.long
def test_that_of_each_listing_is_the_same_in_every_process() -> None:
    _are_the_same(ALL)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(24))
def test_that_of_a_random_kernel_is_accepted(seed: int) -> None:
    dt = show(random_case(seed).program)
    try:
        program = load(Source("random.dt", dt))
    except DtpolyError:
        pytest.skip("the schedule is not legal")
    kernel = text_of(program)
    made = certificate(program, dt, kernel, 20.0)
    verdicts = {v for one in json.loads(made)["functions"] for v in one["verdicts"].values()}
    checked = check_certificate(made, dt, kernel)
    assert checked.accepted is (verdicts == {"proved"}), checked.complaints
    assert checked.not_decided == 0


@pytest.mark.long
def test_it_says_what_is_not_proved() -> None:
    base = base_of(MATMUL)
    for kernel in base.wrong_kernels:
        made = certificate(program_of(MATMUL), base.dt, kernel)
        (function,) = json.loads(made)["functions"]
        assert {"proved"} < {*function["verdicts"].values()}
        checked = check_certificate(made, base.dt, kernel)
        assert not checked.accepted
        assert any("does not follow" in one for one in checked.complaints)


@pytest.mark.parametrize(
    ("dt", "kernel", "complaint"),
    [
        ("Func", "", "the algorithm has mistakes"),
        ("\0", "", "the algorithm has mistakes"),
        ("\ud800", "", "the algorithm has mistakes"),
        (None, "", "does not follow"),
        (None, "\0", "does not follow"),
        (None, "\ud800", "does not follow"),
        (None, f"x = {'-' * 20_000}1", "does not follow"),
        (None, "def matmul(A, B):\n    return 1\n", "does not follow"),
    ],
)
def test_texts_that_are_nothing_are_told(dt: str | None, kernel: str, complaint: str) -> None:
    base = base_of(MATMUL)
    dt = base.dt if dt is None else dt
    made = json.dumps(base.document() | heading(dt, kernel))
    checked = check_certificate(made, dt, kernel)
    assert not checked.accepted
    assert complaint in checked.complaints[0]


@given(st.text())
def test_any_text_is_told_and_raises_nothing(text: str) -> None:
    base = base_of(RELU)
    checked = check_certificate(text, base.dt, base.kernel)
    assert not checked.accepted
    assert checked.complaints


VALUES: tuple[Any, ...] = (None, True, 0, -1, 1.5, 10**30, "", "x", [], {}, [[]], {"": 0})


def _keys(value: object) -> list[Any]:
    match value:
        case dict():
            return [*cast(dict[str, object], value)]
        case list():
            return [*range(len(cast(list[object], value)))]
        case _:
            return []


@given(st.randoms(use_true_random=False))
def test_any_change_is_told_and_raises_nothing(random: Random) -> None:
    base = base_of(RELU)
    document = base.document()
    inside: Any = document
    path: list[Any] = [random.choice(sorted(document))]
    while (keys := _keys(inside[path[-1]])) and random.random() < 0.9:
        inside = inside[path[-1]]
        path.append(random.choice(keys))
    before = json.dumps(inside[path[-1]])
    inside[path[-1]] = random.choice([one for one in VALUES if json.dumps(one) != before])
    checked = check_certificate(json.dumps(document), base.dt, base.kernel)
    # Another witness may be a good one.
    assert not checked.accepted or "witnesses" in path
    assert checked.accepted is not bool(checked.complaints)


WITHOUT = """
import sys
sys.modules["z3"] = None
from dtpoly.cli.main import entry
sys.argv = ["dtpoly", "verify", *sys.argv[1:]]
sys.exit(entry())
"""


def test_without_z3_it_is_told_what_to_install(tmp_path: Path) -> None:
    base = base_of(MATMUL)
    kernel, made = tmp_path / "kernel.py", tmp_path / "made.json"
    kernel.write_text(base.kernel)
    made.write_text(base.certificate)
    arguments = [str(MATMUL), "--kernel", str(kernel), "--check", str(made)]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 1
    assert "pip install 'dtpoly[proofs]'" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout

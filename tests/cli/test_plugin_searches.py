"""`--plugin` where schedules are searched: the processes that prepare them load the file again."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Entry
from tests.cli.process import ROOT

SUM = "Func total; In A; Var x; RVar k;\ntotal[x] = rsum(A[x, k], k);\n"
SIZES = ("--size", "x=64,k=512")
# A directive that rewrites loops, one that edits launches and one that rewrites code; and one that
# is said of each kernel that is scheduled.
OWN = """\


@dataclass(frozen=True, slots=True)
class Narrow(LaunchEdit):
    name = "narrow"

    @classmethod
    def of_layout(cls, layout):
        return cls(layout.func)

    def why(self, decided):
        return "two warps are enough"

    def edit(self, launch, kernel):
        return replace(launch, num_warps=2)
"""
SPACE = f"""\
{SUM}total.block(x:4);
total.tensorize(x:0, k:16);
{{total.interchange(x, k) | total.narrow() | total.last_use(A)}};
total.compile();
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    text = "".join((ROOT / "examples" / name).read_text() for name in ("skew.py", "turned.py"))
    path.write_text(text + OWN)
    return path


@pytest.fixture
def space(tmp_path: Path) -> str:
    path = tmp_path / "sum.dts"
    path.write_text(SPACE)
    return str(path)


def explored(call: Entry, space: str, *more: str) -> tuple[int, dict[str, int], str]:
    results = str(Path(space).with_suffix(".sqlite"))
    given = (space, *SIZES, "--simulate", "--verify", "-o", results, "--json", *more)
    code, out, err = call("explore", *given)
    if not out:
        return code, {}, err
    document: dict[str, Any] = json.loads(out)
    return code, {**document["outcomes"], "known": document["known"]}, err


def test_a_space_of_them_is_emitted_proved_and_measured(
    call: Entry, plugin: Path, space: str
) -> None:
    """The first is refused, for it turns a sum round; the others change no order."""
    code, found, err = explored(call, space, "--plugin", str(plugin))
    assert (code, err) == (0, "")
    assert found == {"measured": 2, "refused": 1, "known": 0}
    assert explored(call, space, "--plugin", str(plugin))[1]["known"] == 3


def test_without_the_plugin_nobody_knows_them(call: Entry, space: str) -> None:
    code, found, _ = explored(call, space)
    assert (code, found) == (1, {"refused": 3, "known": 0})


@pytest.mark.long
def test_results_are_those_of_a_plugin_as_it_is(call: Entry, plugin: Path, space: str) -> None:
    assert explored(call, space, "--plugin", str(plugin))[0] == 0
    wrong = plugin.read_text().replace("num_warps=2", "num_warps='2'")
    plugin.write_text(wrong)
    assert explored(call, space, "--plugin", str(plugin))[1] == {
        "measured": 1,
        "refused": 2,
        "known": 0,
    }
    plugin.write_text("no plugin")
    code, _, err = explored(call, space, "--plugin", str(plugin))
    assert code == 1
    assert "error[DT221]" in err


@pytest.mark.long
def test_a_schedule_has_what_a_plugin_says_of_a_layout(call: Entry, plugin: Path) -> None:
    given = ("schedule", "-", *SIZES, "--place", "simulated", "--budget", "2", "--json")
    plain = json.loads(call(*given, stdin=SUM.encode())[1])
    assert "narrow" not in plain["text"]
    code, out, err = call(*given, "--plugin", str(plugin), stdin=SUM.encode())
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["measured_on"] == "simulated"
    assert all(one["measured_ms"] is not None for one in document["candidates"])
    for one in document["candidates"]:
        said = {line["directive"]: line["why"] for line in one["schedule"]}
        assert said["total.narrow();"] == "two warps are enough"
    code, out, _ = call("check", "-", "--plugin", str(plugin), stdin=document["text"].encode())
    assert (code, out) == (0, "no errors\n")


def test_a_schedule_of_a_wrong_plugin(call: Entry, tmp_path: Path) -> None:
    given = ("schedule", "-", *SIZES, "--budget", "0", "--plugin", str(tmp_path / "missing.py"))
    code, out, err = call(*given, stdin=SUM.encode())
    assert (code, out) == (1, "")
    assert "error[DT220]" in err

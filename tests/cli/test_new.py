"""`dtpoly new` writes a file that is checked, compiled and proved."""

import json
from pathlib import Path

import pytest

from dtpoly.templates import template_about, template_names, template_text
from tests.cli.conftest import Entry
from tests.cli.process import ROOT


def test_each_template_is_the_example_of_its_name() -> None:
    """Examples are formatted, checked, compiled, proved and run by other tests."""
    assert len(template_names()) >= 10
    for name in template_names():
        assert template_text(name) == (ROOT / "examples" / f"{name}.dt").read_text()


def test_each_template_says_what_it_computes() -> None:
    for name in template_names():
        assert template_about(name).endswith(".")
        assert len(template_about(name)) > 20


def test_the_templates_are_listed(call: Entry) -> None:
    code, out, err = call("new")
    assert (code, err) == (0, "")
    lines = out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == list(template_names())
    code, out, _ = call("new", "--json")
    listed = json.loads(out)["templates"]
    assert [one["name"] for one in listed] == list(template_names())
    assert all(one["about"] for one in listed)


@pytest.mark.parametrize("name", ["softmax"])
def test_a_new_file_is_checked_and_compiled(
    name: str, call: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call("new", name)
    assert (code, err) == (0, f"wrote {name}.dt\n")
    steps = [line.split() for line in out.splitlines()[1:]]
    assert [words[:2] for words in steps] == [
        ["dtpoly", "check"],
        ["dtpoly", "explain"],
        ["dtpoly", "compile"],
    ]
    for _, *words in steps:
        assert call(*words)[0] == 0
    head = (tmp_path / f"{name}.py").read_text().splitlines()[:3]
    assert "# Verdict: PROVED stores, loads, bounds, lanes, order, value, overflow." in head


@pytest.mark.long
@pytest.mark.parametrize("name", [one for one in template_names() if one != "softmax"])
def test_each_new_file_is_checked_and_compiled(
    name: str, call: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_a_new_file_is_checked_and_compiled(name, call, tmp_path, monkeypatch)


def test_a_file_that_is_there_stays(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "softmax.dt"
    path.write_text("mine")
    code, out, err = call("new", "softmax", "-o", str(path))
    assert (code, out) == (2, "")
    assert f"'{path}' is there already; name another file with -o" in err
    assert path.read_text() == "mine"
    link = tmp_path / "link.dt"
    link.symlink_to(tmp_path / "nowhere.dt")
    assert call("new", "softmax", "-o", str(link))[0] == 2
    assert not (tmp_path / "nowhere.dt").exists()


def test_it_can_be_printed(call: Entry) -> None:
    assert call("new", "softmax", "-o", "-") == (0, template_text("softmax"), "")


def test_as_data(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "soft.dt"
    code, out, _ = call("new", "softmax", "-o", str(path), "--json")
    said = json.loads(out)
    assert (code, said["template"], said["file"]) == (0, "softmax", str(path))
    assert f"dtpoly check {path}" in said["next"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sofmtax",), "did you mean 'softmax'"),
        (("norm",), "did you mean 'layer_norm' or 'rms_norm'?"),
        (("xyzzy",), "there are attention, "),
        (("-o", "x.dt"), "say which template"),
        (("softmax", "-o", "-", "--json"), "say one of both"),
    ],
)
def test_usage(words: tuple[str, ...], message: str, call: Entry) -> None:
    code, out, err = call("new", *words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_folder_that_is_not_there(call: Entry, tmp_path: Path) -> None:
    code, _, err = call("new", "softmax", "-o", str(tmp_path / "no" / "softmax.dt"))
    assert (code, err.startswith("error: cannot write ")) == (1, True)

"""The SARIF log is valid by the standard's own schema, and says what the diagnostics say."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator  # type: ignore[import-untyped]

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.render.sarif import render
from dtpoly.source import Source, Span

SCHEMA = Path(__file__).parent.parent / "data" / "sarif" / "sarif-schema-2.1.0.json"
VALIDATOR: Any = Draft4Validator(json.loads(SCHEMA.read_text()))

SOURCE = Source("my file.dt", "Func f;\nf[x] = A[j] + B[😀y];\n")
OTHER = Source("/abs/other.dt", "In A;\n")


def span(start: int, end: int, source: Source = SOURCE) -> Span:
    return Span(source, start, end)


FOUND = Diagnostic(
    "DT140",
    Severity.ERROR,
    "shapes do not {line} up",
    span(26, 28),
    "has shape [y]",
    (Note("a reason"), Note("declared here", span(3, 4, OTHER))),
    "reshape it",
    (Edit(span(26, 26), "x, "), Edit(span(15, 19), "{A}"), Edit(span(0, 0, OTHER), "# ")),
)
BARE = Diagnostic("DT100", Severity.WARNING, "no place", None)
LAST = Diagnostic("DT140", Severity.NOTE, "at the end", span(32, 32))


def log(*diagnostics: Diagnostic) -> Any:
    read = json.loads(render(diagnostics, {"DT140": "Operands line up by label."}, "1.2.3"))
    VALIDATOR.validate(read)
    return read


def test_run_names_the_tool_and_one_rule_per_code() -> None:
    run = log(FOUND, BARE, LAST)["runs"][0]
    text = {"text": "Operands line up by label."}
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["tool"]["driver"] == {
        "name": "dtpoly",
        "version": "1.2.3",
        "rules": [{"id": "DT100"}, {"id": "DT140", "fullDescription": text, "help": text}],
    }
    assert [result["ruleIndex"] for result in run["results"]] == [1, 0, 1]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]


def test_result_has_place_reason_and_hint() -> None:
    result = log(FOUND)["runs"][0]["results"][0]
    assert result["message"]["text"] == (
        "shapes do not {{line}} up: has shape [y]\nnote: a reason\nhint: reshape it"
    )
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "my%20file.dt"},
                "region": {"startLine": 2, "startColumn": 19, "endLine": 2, "endColumn": 21},
            }
        }
    ]
    related = result["relatedLocations"][0]
    assert related["message"] == {"text": "declared here"}
    assert related["physicalLocation"]["artifactLocation"] == {"uri": "file:///abs/other.dt"}


def test_fix_groups_the_edits_by_file() -> None:
    fix = log(FOUND)["runs"][0]["results"][0]["fixes"][0]
    assert fix["description"] == {"text": "reshape it"}
    first, second = fix["artifactChanges"]
    assert [r["insertedContent"]["text"] for r in first["replacements"]] == ["x, ", "{A}"]
    assert first["replacements"][0]["deletedRegion"] == {
        "startLine": 2,
        "startColumn": 19,
        "endLine": 2,
        "endColumn": 19,
    }
    assert second["artifactLocation"] == {"uri": "file:///abs/other.dt"}


def test_no_place_and_end_of_file() -> None:
    bare, last = log(BARE, LAST)["runs"][0]["results"]
    assert "locations" not in bare
    assert last["locations"][0]["physicalLocation"]["region"]["startLine"] == 3


def test_nothing_found() -> None:
    assert log()["runs"][0]["results"] == []


@pytest.mark.parametrize("name", ["<stdin>", "a:b.dt", "ü.dt", "\udcff.dt", "../x#y?.dt"])
def test_any_name_becomes_a_uri_reference(name: str) -> None:
    found = Diagnostic("DT103", Severity.ERROR, "t", Span(Source(name, "x"), 0, 1))
    location = log(found)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    uri = location["artifactLocation"]["uri"]
    assert uri.isascii()
    assert not set(uri) & set("<>#?: ")


def test_the_schema_refuses_what_is_no_log() -> None:
    broken = log(FOUND)
    broken["runs"][0]["results"][0]["level"] = "fatal"
    assert not VALIDATOR.is_valid(broken)

"""The text of the runtime, which generated files carry."""

import ast
import builtins
import dis
import re
import subprocess
import sys
import time
from types import CodeType

from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.plan.runtime_text import FIRST, FOLDER, IMPORTS, LAST, MODULES, runtime_text
from tests.codegen.running import imported
from tests.runtime.planned import ADD, ADD_PLAN, changed, file_of


def test_all_modules_are_in_it() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")}
    assert files == {*MODULES, "__init__", "libraries"}
    text = runtime_text()
    assert text.startswith(FIRST)
    assert text.endswith(LAST)
    for name in MODULES:
        tree = ast.parse((FOLDER / f"{name}.py").read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                assert f"\ndef {node.name}(" in text
    assert "dtpoly.carried" not in text
    assert "\nimport " not in text
    assert "\nfrom " not in text


def test_its_names_are_apart_from_those_of_a_file() -> None:
    """It defines no names but those that begin so, and uses Python's and those of imports."""
    text = runtime_text()
    code = compile(text, "<runtime>", "exec")
    defined = {one.argval for one in dis.get_instructions(code) if one.opname == "STORE_NAME"}
    assert defined
    assert all(name.startswith("dt_") for name in defined)
    imported_names = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.parse(IMPORTS).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    used, pending = set[str](), [code]
    while pending:
        one = pending.pop()
        pending += [inner for inner in one.co_consts if isinstance(inner, CodeType)]
        used |= {
            step.argval
            for step in dis.get_instructions(one)
            if step.opname == "LOAD_GLOBAL" or (one is code and step.opname == "LOAD_NAME")
        }
    assert used <= defined | imported_names | {*dir(builtins)}
    assert imported_names <= used | {"tl"}
    # No text is run: what Python compiles of the file's own is compared, and never called.
    assert not used & {"eval", "exec", "__import__"}
    users = [inner for inner in code.co_consts if "compile" in getattr(inner, "co_names", ())]
    assert [one.co_name for one in users] == ["dt_is_text_of"]


def test_reading_it_is_quick_and_needs_no_torch() -> None:
    code = (
        "import sys, time; from dtpoly.plan.runtime_text import runtime_text;"
        "start = time.perf_counter(); runtime_text(); took = time.perf_counter() - start;"
        "assert not {'torch', 'triton', 'numpy'} & {*sys.modules}; print(took)"
    )
    best = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(3)
    )
    assert best < 0.02
    start = time.perf_counter()
    runtime_text()
    assert time.perf_counter() - start < 0.001


def test_a_file_may_import_it() -> None:
    text = file_of(ADD, ADD_PLAN, runtime="from dtpoly.runtime import dt_function\n")
    made, carried = imported(text), imported(file_of(ADD, ADD_PLAN))
    assert "def dt_" not in text
    torch = made.torch
    A = torch.arange(5.0)
    assert torch.equal(made.f(A, A), carried.f(A, A))


def test_two_functions_of_a_file() -> None:
    twice = changed(ADD_PLAN, function="g")
    twice["results"] = {"g": ADD_PLAN["results"]["f"]}
    first = {**ADD_PLAN["launches"][0], "tensors": {"A": "x_size", "B": "x_size", "g": "x_size"}}
    twice["launches"] = [first]
    made = imported(file_of(ADD, ADD_PLAN, twice))
    A = made.torch.arange(3.0)
    assert made.torch.equal(made.f(A, A), made.g(A, A))
    assert (made.f.__name__, made.g.__name__) == ("f", "g")


def test_no_function_of_kernels_has_the_name_of_one_of_the_runtime() -> None:
    names = set(re.findall(r"^(?:def )?(dt_\w+)", runtime_text(), re.MULTILINE))
    assert len(names) > 20
    assert not names & TEXTS.keys()


def lines_of_features(page: str) -> list[str]:
    """The table of the page on plans, with the lines that the runtime has for each feature."""
    text = runtime_text()
    lines = text.splitlines()
    left = {
        node.name: (min((node.lineno, *(d.lineno for d in node.decorator_list))), node.end_lineno)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    total = sum(map(bool, map(str.strip, lines)))
    made = list[str]()
    for feature, names in re.findall(r"^\| (.*) \| \d+ \| (.*?) ?\|$", page, re.MULTILINE):
        spans = [left.pop(f"dt_{name}") for name in re.findall(r"`(\w+)`", names)]
        count = sum(bool(one.strip()) for first, last in spans for one in lines[first - 1 : last])
        count = count if spans else total
        total -= count
        made.append(f"| {feature} | {count} | {names + ' ' if names else ''}|")
    assert not left
    return made


def test_the_page_on_plans_says_what_the_lines_of_the_runtime_are_for() -> None:
    page = (FOLDER.parents[1] / "docs/plan.md").read_text()
    made = lines_of_features(page)
    assert len(made) > 10
    assert "\n".join(made) in page

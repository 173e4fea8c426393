"""A directive is one file: nothing else names its class, or has its name as a text."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dtpoly.directives.built_in import DIRECTIVES, text_of_layout, with_names

pytestmark = pytest.mark.always

ROOT = Path(__file__).parent.parent
OWN = ROOT / "dtpoly/directives"
# The verifier reads Triton, in which `store`, `split` and others are words, and emitted files.
READERS = ROOT / "dtpoly/verify"
# The runtime of emitted files reads plans, whose keys are such words, and calls Triton.
RUNTIME = ROOT / "dtpoly/carried"
# Words that mean something else there: a keyword or an operation of Triton, an operation of torch,
# an instruction, a command, a method of Python.
OTHER_MEANINGS = {
    "atomic": {"dtpoly/ir/parts.py"},
    "block": {
        *("codegen/breaking.py", "codegen/lower.py", "dtpoly/poly/generation.py"),
        "dtpoly/plan/plan_data.py",
    },
    "compile": {
        *(
            "codegen/python_names.py",
            "dtpoly/cli/commands_apart.py",
            "dtpoly/explore/run/asked_question.py",
            "dtpoly/cli/main.py",
            "dtpoly/cli/new_command.py",
        ),
        *("dtpoly/cli/run_command.py", "dtpoly/explore/prune/steps.py"),
        "dtpoly/explore/run/preparation.py",
    },
    "early": {
        *("dtpoly/ir/kernel.py", "dtpoly/plan/plan_data.py"),
        "dtpoly/training/visible_kernels.py",
    },
    "flatten": {"dtpoly/framing/torch_tracing.py"},
    "map": {"codegen/python_names.py", "dtpoly/cli/show_command.py"},
    "num_stages": {
        *("codegen/python_names.py", "dtpoly/cli/emitted.py", "dtpoly/targets/compiled_kernels.py"),
        *("dtpoly/plan/plan_data.py", "dtpoly/training/visible_kernels.py"),
        "dtpoly/watching/launch_watch.py",
    },
    "num_warps": {
        *("codegen/python_names.py", "dtpoly/cli/emitted.py", "dtpoly/targets/compiled_kernels.py"),
        *("dtpoly/plan/plan_data.py", "dtpoly/training/visible_kernels.py"),
        "dtpoly/watching/launch_watch.py",
    },
    "precision": {"dtpoly/ir/parts.py"},
    "store": {"dtpoly/framing/pointer_uses.py", "dtpoly/ir/kernel_text.py"},
    "stream": {"codegen/python_names.py"},
    # Keys of JSON, by which a kernel or an answer is described, and of plans.
    "same_bits": {"dtpoly/cli/schedule_command.py"},
    "beside": {"dtpoly/explanation.py"},
    "panels": {
        *("dtpoly/explanation.py", "dtpoly/explore/cost/cost_table.py"),
        *("dtpoly/plan/plan_data.py", "dtpoly/schedule/fused_table.py"),
        "dtpoly/training/visible_kernels.py",
    },
}


# Texts in which a directive is written with its arguments, and why no class prints them.
WRITTEN = {
    "examples of the language in a message, a help text or the catalogue": {
        *("dtpoly/asking/directive_answers.py", "dtpoly/cli/why_not_command.py"),
        *("dtpoly/catalogue/algorithm_mistakes.py", "dtpoly/catalogue/schedule_mistakes.py"),
        *("frontend/choice_messages.py", "frontend/grammar_errors.py"),
        *("frontend/name_messages.py", "dtpoly/training/gradient_schedules.py"),
    },
    "a whole file of the language is written": {
        *("dtpoly/cli/without_algorithm.py", "dtpoly/explore/devices/probe_torch.py"),
        "dtpoly/framing/plain_algorithm.py",
    },
    "a way out of a room that knows no directives: they are above it": {
        *("dtpoly/schedule/block_parts.py", "dtpoly/schedule/fused_into.py"),
        *("dtpoly/schedule/static_checks.py", "codegen/planned_launches.py"),
        *("codegen/together.py", "dtpoly/explore/cost/sentences.py"),
    },
    "code of Triton, torch or Python": {
        *("codegen/reference_terms.py", "codegen/reference_text.py", "codegen/test_text.py"),
        *("codegen/triton_text.py", "dtpoly/pictures/shown_dossier.py"),
    },
}


def words(path: Path) -> Iterator[str]:
    """The texts in a file that are no documentation, and the modules of directives in imports."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documentation = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in documentation:
            yield str(node.value)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "dtpoly.directives."
        ):
            yield str(node.module).rpartition(".")[2]


def files() -> Iterator[Path]:
    for room in ("dtpoly", "frontend", "codegen"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if path.resolve() == path and not {OWN, READERS, RUNTIME} & {*path.parents}:
                yield path


def test_no_other_file_names_a_directive() -> None:
    names = {one.name for one in DIRECTIVES}
    found: dict[str, set[str]] = {}
    for path in files():
        place = str(path.relative_to(ROOT))
        for word in names.intersection(words(path)):
            if place not in OTHER_MEANINGS.get(word, ()):
                found.setdefault(word, set()).add(place)
    assert found == {}


def test_no_other_file_writes_a_directive_with_its_arguments() -> None:
    names = "|".join(one.name for one in DIRECTIVES)
    called = re.compile(rf"(?<!\w)(?:{names})\(")
    found = {
        str(path.relative_to(ROOT))
        for path in files()
        if any(called.search(word) for word in words(path))
    }
    known = [file for some in WRITTEN.values() for file in some]
    assert sorted(found) == sorted(known)


def test_a_directive_prints_its_text() -> None:
    assert text_of_layout("f", warps=4) == "f.num_warps(4)"
    assert text_of_layout("f", stages=3) == "f.num_stages(3)"
    assert text_of_layout("f", precision="tf32x3") == "f.precision(tf32x3)"
    assert with_names("g.{fuse}(f, x) g.{join}(f, x) {tile}") == (
        "g.fuse_at(f, x) g.online(f, x) tensorize"
    )


def test_what_means_something_else_is_there() -> None:
    for word, places in OTHER_MEANINGS.items():
        for place in places:
            assert word in words(ROOT / place), f"'{word}' is not in {place} any more"


@pytest.mark.parametrize("cls", DIRECTIVES, ids=lambda cls: cls.name)
def test_own_file_knows_no_other_directive(cls: type) -> None:
    others = {one.name for one in DIRECTIVES if one is not cls}
    own = OWN / f"{cls.__module__.rpartition('.')[2]}.py"
    imports = (node for node in ast.walk(ast.parse(own.read_text())))
    named = {
        str(node.module).rpartition(".")[2]
        for node in imports
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dtpoly.directives.")
    }
    assert not named.intersection(others)

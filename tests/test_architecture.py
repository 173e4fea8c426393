"""The floors of the house: who may import whom, and what must not be loaded early."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.always

ROOT = Path(__file__).parent.parent

# A room may import from itself and from these.
ALLOWED: dict[str, set[str]] = {
    "frozen": set[str](),
    "garbage": set[str](),
    "system": set[str](),
    "budget": set[str](),
    "source": set[str](),
    "diagnostics": {"source"},
    "catalogue": set[str](),
    # Files that dtpoly writes carry its text: it must not need anything of dtpoly.
    "carried": set[str](),
    "budget_messages": {"source", "diagnostics"},
    "missing_package": {"diagnostics"},
    "templates": set[str](),
    "suggest": set[str](),
    "amounts": set[str](),
    "python_places": {"source"},
    "writing": set(),
    "render": {"source", "diagnostics"},
    "algorithm": {"source", "diagnostics"},
    "plan": {"poly", "ir"},
    "reference": {"source", "diagnostics", "algorithm"},
    "poly": {"algorithm"},
    "schedule": {
        *("source", "diagnostics", "suggest", "python_places", "algorithm", "poly", "ir", "plan"),
    },
    "directives": {
        *("source", "diagnostics", "suggest", "algorithm", "poly", "ir", "plan", "schedule"),
        "amounts",
    },
    "plugin_messages": {"source", "diagnostics", "python_places"},
    "plugins": {
        *("plugin_messages", "diagnostics", "python_places", "algorithm", "schedule", "directives"),
    },
    "primitives": {"source", "diagnostics", "algorithm", "poly", "ir", "plan", "schedule"},
    "frontend": {"source", "diagnostics", "suggest", "algorithm"},
    "ir": {"algorithm", "poly"},
    "codegen": {"source", "diagnostics", "algorithm", "poly", "ir", "plan"},
    "generate": {
        *("source", "diagnostics", "budget_messages", "algorithm", "plan", "schedule", "codegen"),
        "directives",
    },
    "useless_directives": {"diagnostics", "schedule", "codegen"},
    "origins": {"source", "algorithm", "poly", "plan", "schedule"},
    "code_map": {
        *("algorithm", "poly", "schedule", "ir", "codegen", "generate", "origins"),
    },
    "verify": {"", "source", "diagnostics", "algorithm"},
    # A table of data: nothing of the verifier is in it.
    "verify.semantics": {"verify"},
    # It must not believe isl, and reads the algorithm's text itself.
    "verify.checker": {"verify", "source", "diagnostics", "algorithm", "frontend"},
    "verification": {"suggest", "algorithm", "codegen", "runtime", "verify"},
    "row_proofs": {"algorithm", "codegen", "runtime", "schedule", "verification", "verify"},
    "bits_messages": {"source", "diagnostics"},
    "verdict_messages": {"source", "diagnostics", "schedule", "verify"},
    "verdict_table": {"diagnostics", "render", "verify"},
    "runtime": {
        *(
            "carried",
            "missing_package",
            "",
            "writing",
            "algorithm",
            "reference",
            "schedule",
            "codegen",
            "generate",
        ),
        "plan",
    },
    "targets": {
        *("source", "diagnostics", "algorithm", "poly", "schedule", "ir", "codegen", "generate"),
        *("checking", "origins", "code_map", "plan", "runtime", "directives"),
    },
    "ring": {"diagnostics", "algorithm", "plan", "reference", "runtime"},
    "timing": set[str](),
    "pictures": {"render", "poly", "schedule"},
    "explanation": {"render", "algorithm", "schedule"},
    "checking": {
        *("source", "diagnostics", "budget_messages", "algorithm", "schedule", "frontend"),
        *("plugins", "directives"),
    },
    "explore": {
        *("", "source", "diagnostics", "suggest", "writing", "render", "algorithm", "poly"),
        *("reference", "schedule", "frontend", "plugins", "checking", "codegen", "generate"),
        *("runtime", "targets", "verify", "verification", "timing", "ir", "directives", "plan"),
        "row_proofs",
    },
    "autoschedule": {
        *("source", "diagnostics", "algorithm", "frontend", "schedule", "checking", "generate"),
        *("targets", "explore", "plan", "amounts", "directives", "row_proofs"),
    },
    "gradient": {"source", "diagnostics", "algorithm", "frontend", "directives"},
    "extract": {"source", "diagnostics"},
    "editor": {
        *("", "source", "diagnostics", "budget_messages", "algorithm", "schedule", "directives"),
        *("frontend", "checking", "explanation", "offers", "plugins", "remarks"),
    },
    # Frames are guesses that the verifier judges: what guesses shares nothing with it.
    "watching": {"source", "diagnostics", "writing"},
    "framing": {"source", "diagnostics", "algorithm", "extract", "watching"},
    "tuned": {
        *("source", "diagnostics", "algorithm", "frontend", "codegen", "explore"),
        *("autoschedule", "runtime", "schedule", "generate"),
    },
    "cli": {
        "budget_messages",
        "missing_package",
        "templates",
        "tuned",
        "",
        "source",
        "diagnostics",
        "catalogue",
        "suggest",
        "render",
        "pictures",
        "explanation",
        "algorithm",
        "reference",
        "directives",
        "schedule",
        "frontend",
        "ir",
        "codegen",
        "generate",
        "useless_directives",
        "code_map",
        "writing",
        "runtime",
        "targets",
        "plugins",
        "checking",
        *("row_proofs", "bits_messages"),
        *("ring", "verify", "verification", "verdict_messages", "verdict_table", "amounts"),
        *("explore", "autoschedule", "remarks", "offers", "points", "plan", "python_places"),
        *("one_pass_offers", "gradient", "extract", "editor", "watching", "framing", "asking"),
    },
    "offers": {"diagnostics", "algorithm", "schedule", "generate", "useless_directives"},
    "asking": {
        *("source", "diagnostics", "render", "algorithm", "schedule", "frontend", "checking"),
        *("explanation", "offers", "one_pass_offers", "plugins", "python_errors"),
    },
    # How a schedule costs, for Python: it is loaded when somebody asks.
    "estimated_cost": {
        *("algorithm", "explore", "generate", "python_errors", "render", "schedule", "suggest"),
        "targets",
    },
    "judged_schedule": {
        *("asking", "offers", "estimated_cost"),
        *("diagnostics", "suggest", "algorithm", "schedule", "checking", "notebook", "remarks"),
        "python_errors",
    },
    "points": {"source", "algorithm", "frontend", "explore"},
    "directive_words": set[str](),
    "one_pass_offers": {"diagnostics", "algorithm", "schedule", "generate"},
    "remarks": {"diagnostics", "checking", "generate", "useless_directives", "one_pass_offers"},
    "python_errors": {"diagnostics", "render"},
    "rescheduling": {"source", "diagnostics", "algorithm", "schedule", "frontend"},
    "notebook": {
        *("diagnostics", "render", "pictures", "explanation", "schedule", "checking"),
        *("verify", "verdict_table"),
    },
    "api": {
        *("source", "diagnostics", "suggest", "render", "algorithm", "schedule", "frontend"),
        *("", "plugins", "checking", "notebook", "codegen", "generate", "runtime", "plan"),
        *("verify", "verification", "verdict_messages", "tuned", "python_errors"),
        *("rescheduling", "directive_words", "remarks", "judged_schedule", "points", "directives"),
    },
    "training": {
        *("source", "suggest", "algorithm", "directives", "generate", "codegen", "gradient"),
        *("api", "explore", "carried", "tuned"),
        *("python_errors", "diagnostics"),
    },
    "spaces": {
        *("diagnostics", "suggest", "writing", "render", "algorithm", "amounts", "explore"),
        *("api", "python_errors", "estimated_cost", "autoschedule", "source", "frontend"),
        *("plugins", "targets"),
    },
    "nn": {"algorithm", "api", "training", "missing_package"},
    "__main__": {"cli"},
    "": {"api", "diagnostics", "spaces", "training", "watching"},
}

# The rooms of the exploration, in which one room may import from these others.
EXPLORE: dict[str, set[str]] = {
    "extras": set[str](),
    "space": set[str](),
    "legality": {"space"},
    "accesses": set[str](),
    "devices": set[str](),
    "needs": {"accesses", "devices"},
    "cost": {"accesses", "devices", "needs"},
    "store": set[str](),
    "prune": {"cost", "devices", "store"},
    "bench": {"store"},
    "workers": {"extras", "bench", "store"},
    "strategies": {"extras", "space"},
    "run": {"space", "legality", "devices", "store", "bench", "workers", "strategies"},
    "report": {"extras", "store"},
}
MOST_FILES = 13  # of a room there, with its __init__.py

# Only what runs a Program may load torch; `check`, `fmt` and `show` stay without it.
TORCH = [
    ROOT / "dtpoly" / "cli" / "summary.py",
    ROOT / "dtpoly" / "explore" / "devices" / "probe_torch.py",
    ROOT / "dtpoly" / "cli" / "executed_kernels.py",
    ROOT / "dtpoly" / "ring" / "hand_launches.py",
    ROOT / "dtpoly" / "ring" / "ring_execution.py",
    ROOT / "dtpoly" / "ring" / "rounding_trees.py",
    ROOT / "dtpoly" / "ring" / "row_trials.py",
    ROOT / "dtpoly" / "runtime" / "checked_calls.py",
    ROOT / "dtpoly" / "runtime" / "execute.py",
    ROOT / "dtpoly" / "runtime" / "tolerance.py",
    ROOT / "dtpoly" / "explore" / "bench" / "on_torch.py",
    ROOT / "dtpoly" / "timing" / "clock.py",
    ROOT / "dtpoly" / "timing" / "failures.py",
    ROOT / "dtpoly" / "training" / "backward_plans.py",
    ROOT / "dtpoly" / "training" / "eager_calls.py",
    ROOT / "dtpoly" / "training" / "operator_module.py",
    ROOT / "dtpoly" / "training" / "torch_operators.py",
    ROOT / "dtpoly" / "training" / "differentiable.py",
    ROOT / "dtpoly" / "training" / "visible_kernels.py",
    ROOT / "dtpoly" / "nn" / "functional.py",
    ROOT / "dtpoly" / "nn" / "fused_losses.py",
    ROOT / "dtpoly" / "nn" / "modules.py",
]


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the package: its room and its path."""
    for path in sorted((ROOT / "dtpoly").rglob("*.py")):
        inside = path.relative_to(ROOT / "dtpoly")
        if inside.parts[0] not in ("frontend", "codegen"):
            yield room(inside), path
    for folder in ("frontend", "codegen"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield folder, path


def room(inside: Path) -> str:
    """The first part of a module's name within the package."""
    if inside.parts[:2] == ("verify", "checker"):
        return "verify.checker"
    if inside.parts[:2] == ("verify", "semantics"):
        return "verify.semantics"
    name = inside.parts[0].removesuffix(".py")
    return "" if name == "__init__" else name


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    """Absolute imports of a module by full name, and whether they stand inside a function."""
    tree = ast.parse(path.read_text())
    inside = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or "", node in inside
        elif isinstance(node, ast.ImportFrom):
            yield ".", node in inside


@pytest.mark.sampled
@pytest.mark.parametrize(("home", "path"), list(modules()), ids=lambda value: str(value))
def test_imports_go_down(home: str, path: Path) -> None:
    for name, inside_function in imported(path):
        assert not inside_function, f"{path}: import of {name} inside a function"
        if name == "dtpoly" or name.startswith("dtpoly."):
            target = name.removeprefix("dtpoly").lstrip(".").split(".")[0]
            # How classes are made is every room's, as the standard library is; so are garbage,
            # what a call may take, and the operating system.
            allowed = ALLOWED[home] | {home, "frozen", "garbage", "budget", "system"}
            assert target in allowed, f"{path}: imports {name}"
        if name.split(".")[0] == "islpy":
            # The verifier shares nothing with what it verifies, so it has an isl layer of its own.
            assert home in ("poly", "verify"), f"{path}: imports islpy"
        if name.startswith("dtpoly.verify.checker"):
            assert home != "verify", f"{path}: imports the checker"
        if home == "verify.semantics" and name.startswith("dtpoly.verify"):
            assert name.startswith("dtpoly.verify.semantics"), f"{path}: imports {name}"
        if name.split(".")[0] == "torch":
            assert home == "reference" or path in TORCH, f"{path}: imports torch"


@pytest.mark.parametrize("home", EXPLORE)
def test_imports_go_down_in_the_exploration(home: str) -> None:
    base = ROOT / "dtpoly" / "explore"
    files = [base / f"{home}.py"] if home == "extras" else [*(base / home).rglob("*.py")]
    assert 0 < len(files) <= MOST_FILES
    for path in files:
        for name, _ in imported(path):
            if name.startswith("dtpoly.explore."):
                assert name.split(".")[2] in EXPLORE[home] | {home}, f"{path}: imports {name}"


def test_the_exploration_has_no_other_rooms() -> None:
    found = {path.name.removesuffix(".py") for path in (ROOT / "dtpoly" / "explore").iterdir()}
    assert found - {"__pycache__"} == {"__init__", *EXPLORE}


BASE = ROOT / "dtpoly" / "verify"
VERIFIER = sorted(BASE.rglob("*.py"))
# The kernel IR, and what makes kernels of it and prints them.
GENERATOR = sorted((*(ROOT / "dtpoly" / "ir").glob("*.py"), *(ROOT / "codegen").glob("*.py")))
# The rooms of the verifier: each may import from itself and from those before it.
VERIFIER_ROOMS = ("semantics", "algebra", "triton", "plan", "proof", "bits", "checker")
MOST_LINES, MOST_LINES_OF_A_FILE = 60, 500  # of a function, and of a file
MOST_BY_PLACE = 8  # arguments of one call: nobody reads more of them without their names
OF_TRITON = "start"  # how the runtime calls Triton's launcher, which takes no argument by name


def module_of(path: Path) -> str:
    """The full name of a module of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def needed(path: Path, known: set[str]) -> set[str]:
    """The known modules that a module imports, also those that only a checker of types would."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found.update(inside or {node.module})
    return found & known


@pytest.mark.parametrize("home", VERIFIER_ROOMS)
def test_imports_go_down_in_the_verifier(home: str) -> None:
    before = VERIFIER_ROOMS[: VERIFIER_ROOMS.index(home) + 1]
    files = [path for path in VERIFIER if path.relative_to(BASE).parts[0] == home]
    assert len(files) > 1
    for path in files:
        for name, _ in imported(path):
            if name == "dtpoly.verify" or name.startswith("dtpoly.verify."):
                assert name.split(".")[2:3] in [[one] for one in before], f"{path}: imports {name}"


def test_the_verifier_has_no_other_rooms() -> None:
    found = {path.relative_to(BASE).parts[0] for path in VERIFIER}
    assert found == {"__init__.py", *VERIFIER_ROOMS}


def test_the_verifier_has_no_circle_of_imports() -> None:
    graph = {module_of(path): path for path in VERIFIER}
    sorter = TopologicalSorter({one: needed(path, {*graph}) for one, path in graph.items()})
    assert len(list(sorter.static_order())) == len(graph)


def imported_at_run_time(name: str, path: Path) -> Iterator[str]:
    """The names that a module imports, but for what only a checker of types reads."""
    tree = ast.parse(path.read_text())
    only_types = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if node in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = ".".join((*package.split(".")[: 1 - node.level or None], node.module or ""))
            base = (node.module or "") if node.level == 0 else home.rstrip(".")
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def test_the_package_has_no_circle_of_imports_at_run_time() -> None:
    files = {path: module_of(path) for _, path in modules()}
    names = {path: n if n.startswith("dtpoly") else f"dtpoly.{n}" for path, n in files.items()}
    known = {*names.values()}
    graph: dict[str, set[str]] = {}
    for path, name in names.items():
        found = {*imported_at_run_time(name, path)} & known
        # A package is there as soon as one of its modules is: it needs nothing of them.
        packages = {one for one in found if any(other.startswith(f"{one}.") for other in known)}
        graph[name] = found - packages - {name}
    assert len(graph) > 500
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)
    assert "dtpoly.codegen.building" in graph["dtpoly.codegen.lower"]


@pytest.mark.sampled
@pytest.mark.parametrize("path", [*VERIFIER, *GENERATOR], ids=lambda path: path.stem)
def test_what_is_handed_over_is_seen(path: Path) -> None:
    """No module needs another one only for its types, and nothing is looked up that is ambient."""
    text = path.read_text()
    assert "TYPE_CHECKING" not in text
    assert "ContextVar" not in text


@pytest.mark.parametrize("path", [path for _, path in modules()], ids=lambda path: path.stem)
def test_modules_are_read_in_pieces(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < MOST_LINES_OF_A_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id == OF_TRITON
        ):
            assert len(node.args) <= MOST_BY_PLACE, f"{path}:{node.lineno}"
        if isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= MOST_LINES, f"{path}: {node.name} has {lines} lines"


def test_no_other_files_than_modules_in_the_rooms() -> None:
    assert (ROOT / "dtpoly" / "frontend").resolve() == ROOT / "frontend"
    assert (ROOT / "dtpoly" / "codegen").resolve() == ROOT / "codegen"


def test_compiling_needs_neither_torch_nor_rich() -> None:
    code = (
        "import sys; import dtpoly.checking; "
        "print(sorted({'torch', 'rich', 'numpy', 'triton', 'islpy._isl'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""Checks what surrounds launches: hooks, versions of Triton, its interpreter, and its caches."""

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch

from tests.codegen.keeping import checks_of, do, module_of, ran, triton
from tests.codegen.launches import AXES, MATMUL, again, launched, launcher_of, same


def check_hooks() -> None:
    """If a hook watches launches, or wants other code, it sees them all: none is kept."""
    module, knobs = module_of(MATMUL), triton.knobs
    launch = launcher_of(module)
    function = launched(launch, same())[4]
    assert launch(same(), 1)
    seen: list[Any] = []

    def stages(*_: object) -> tuple[str, str]:
        return "key", "hash"

    def before(*_: object, **__: object) -> None:
        seen.append("before")

    for hooks in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
        hooks.add(seen.append)
        assert launch(same(), 1) is None
        hooks.remove(seen.append)
        assert launch(same(), 1)
    changes: list[tuple[Any, str, Any]] = [
        (knobs.runtime, "launch_enter_hook", seen.append),
        (knobs.runtime, "debug", True),
        (knobs.runtime, "add_stages_inspection_hook", stages),
        (knobs.compilation, "instrumentation_mode", "other"),
    ]
    for where, name, value in changes:
        usual = getattr(where, name)
        setattr(where, name, value)
        for _ in range(2):
            assert launch(same((80, 1)), 1) is None, name
        setattr(where, name, usual)
        # What was compiled for who looked is not run now.
        assert launched(launch, same((80, 1)))[4] == function, name
        assert launch(same(), 1), name
    module.f_kernel.add_pre_run_hook(before)
    assert launch(same(), 1) is None
    assert seen == ["before"]


def check_versions() -> None:
    """Of a version of Triton that is not known, or another maker's GPU, nothing is noted."""
    changes = (
        mock.patch.object(triton, "__version__", "4.0.0"),
        mock.patch.object(torch.version, "hip", "7.0"),
    )
    for changed in changes:
        with changed:
            module = module_of(MATMUL)
        launch = launcher_of(module)
        for _ in range(3):
            assert launch(same(), 1) is None
        assert module.dt_again(launch, {}, [], None, 0, [0]) is launch


def check_interpreter() -> None:
    module = module_of(MATMUL)
    kernel = mock.MagicMock()
    # There is no interpreter in this process: what it is asked for is all that there is to see.
    with (
        mock.patch.object(module, "dt_interpreted", True),
        mock.patch.object(module, "dt_interpret", return_value=None) as interpret,
    ):
        assert module.dt_start(kernel, None, [], 3, [1, 2], {"three": 3}) is None
    interpret.assert_called_once_with(kernel, 3, [1, 2], {"three": 3})


def check_edited() -> None:
    """Variants that are made after somebody edited the file have the text that was imported."""
    module = module_of(MATMUL)
    kernel, made = module.f_kernel, list[Any]()
    path = Path(module.__file__ or "")
    text = path.read_text(encoding="utf-8")
    changed = text.replace("tl.program_id(0)", "tl.program_id(1)").replace("import re\n", "")
    assert changed.count("\n") == text.count("\n") - 1
    choose = module.dt_chooser(kernel, AXES, [])
    for call in (same(), same((80, 1)), same((1, 64)), same((65, 1))):
        made.append(choose([*call[0]], {**call[1]})[0])
        path.write_text(changed, encoding="utf-8")
    path.unlink()
    made.append(choose([*same((128, 2))[0]], {**same((128, 2))[1]})[0])
    assert len(set(map(id, made))) > 2
    assert {one.src for one in made} == {kernel.src}
    assert "program_id(0)" in kernel.src


def check_imported_again() -> None:
    """A function of a text that is gone is refused; one of the same text is not, nor a new one."""
    module = module_of(MATMUL)
    path, chooser, kernel = Path(module.__file__ or ""), module.dt_chooser, module.f_kernel
    text = path.read_text(encoding="utf-8")
    exec(compile(text, str(path), "exec"), module.__dict__)
    first = chooser(kernel, AXES, [])(*same())[0]
    changed = text.replace("tl.program_id(0)", "tl.program_id(1)")
    path.write_text(changed, encoding="utf-8")
    exec(compile(changed, str(path), "exec"), module.__dict__)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="imported again with another text"):
            chooser(kernel, AXES, [])(*same((65, 1)))
        launch = launcher_of(module)
        launched(launch, same())
        new = module.dt_chooser(module.f_kernel, AXES, [])(*same())[0]
        assert ["program_id(1)" in one.src for one in (first, new)] == [False, True]


def check_imported_again_before_triton_compiles() -> None:
    """Also where a variant is there, and is to be compiled for other types."""
    module = module_of(MATMUL)
    path, launch = Path(module.__file__ or ""), launcher_of(module)
    launched(launch, same())
    changed = path.read_text(encoding="utf-8").replace("program_id(0)", "program_id(1)")
    path.write_text(changed, encoding="utf-8")
    exec(compile(changed, str(path), "exec"), module.__dict__)
    assert launched(launch, same())  # that is compiled, of the old text
    args, told = same()
    args = [one if isinstance(one, int) else replace(one, dtype=torch.float16) for one in args]
    with pytest.raises(RuntimeError, match="imported again with another text"):
        launch((args, {**told, "A_B_dtype": triton.language.float16}), 1)


def check_cleared() -> None:
    """A kept call still has its compiled kernel after Triton's own cache was cleared."""
    module = module_of(MATMUL)
    launch = launcher_of(module)
    noted = launch(same(), 1)
    first = ran.kept[4]
    for one in (module.f_kernel, module.dt_chooser(module.f_kernel, AXES, [])(*same())[0]):
        one.device_caches.clear()
    gc.collect()
    assert again(noted, same(), 1)[4] == first
    assert launched(launch, same())[4] != first  # it is compiled again


if __name__ == "__main__":
    raise SystemExit(do(checks_of(globals())))

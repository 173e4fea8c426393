"""Runs on a machine with torch and Triton, and nothing else: kernels of a folder, what they store.

`python launched.py FOLDER` on a GPU, with TRITON_INTERPRET=1 on the CPU. `tests.semantics.prepared`
makes the folder, and copies this file into it; `tests.semantics.judged` reads what comes out.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LANES = 256
DTYPES = {
    "tl.int1": "bool",
    **{f"tl.int{n}": f"int{n}" for n in (8, 16, 32, 64)},
    **{f"tl.uint{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    "tl.float8e4nv": "float8_e4m3fn",
    "tl.float8e5": "float8_e5m2",
    "tl.float16": "float16",
    "tl.bfloat16": "bfloat16",
    "tl.float32": "float32",
    "tl.float64": "float64",
}


def tensor_of(torch: Any, data: bytes, kind: str, device: str) -> Any:
    raw = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    return raw.view(getattr(torch, DTYPES[kind])).to(device)


def bytes_of(torch: Any, tensor: Any) -> str:
    return base64.b64encode(tensor.cpu().view(torch.uint8).numpy().tobytes()).decode()


def run_group(torch: Any, function: Any, group: Any, only: int, device: str) -> list[str]:
    given = [tensor_of(torch, base64.b64decode(d), k, device) for k, d in group["inputs"]]
    outs = [
        torch.zeros(LANES, dtype=getattr(torch, DTYPES[k]), device=device) for k in group["outs"]
    ]
    function[(1,)](*given, *outs, only=only)
    return [bytes_of(torch, one) for one in outs]


def part(folder: Path, number: int, parts: int) -> None:
    torch: Any = importlib.import_module("torch")
    triton: Any = importlib.import_module("triton")
    is_interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    device = "cpu" if is_interpreted else "cuda"
    groups = json.loads((folder / "groups.json").read_text())
    spec = importlib.util.spec_from_file_location("kernels", folder / "kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answers: dict[str, list[str]] = {}
    for name, group in list(groups.items())[number::parts]:
        function = getattr(module, name)
        try:
            if is_interpreted:
                raise RuntimeError(
                    "each alone: the interpreter ends at the first that it cannot do"
                )
            answers[name] = run_group(torch, function, group, -1, device)
        except Exception:
            found: list[str] = []
            for at in range(len(group["outs"])):
                try:
                    found.append(run_group(torch, function, group, at, device)[at])
                except Exception as error:
                    found.append(f"!{type(error).__name__}: {str(error)[:200]}")
            answers[name] = found
    way = "interpreted" if is_interpreted else f"gpu {torch.cuda.get_device_name()}"
    said = {"triton": triton.__version__, "way": way, "answers": answers}
    (folder / f"answers-{number}.json").write_text(json.dumps(said))


def main() -> None:
    folder, began = Path(sys.argv[1]), time.monotonic()
    if len(sys.argv) > 3:
        part(folder, int(sys.argv[2]), int(sys.argv[3]))
        return
    parts = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    command = [sys.executable, "-W", "ignore", __file__, str(folder)]
    started = [subprocess.Popen([*command, str(one), str(parts)]) for one in range(parts)]
    failed = [one.wait() for one in started]
    whole: dict[str, Any] = {"answers": {}}
    for one in range(parts):
        path = folder / f"answers-{one}.json"
        if path.exists():
            said = json.loads(path.read_text())
            whole = {**said, "answers": {**whole["answers"], **said["answers"]}}
            path.unlink()
    (folder / "answers.json").write_text(json.dumps(whole))
    print(len(whole["answers"]), "groups,", failed, f"{time.monotonic() - began:.0f} seconds")


if __name__ == "__main__":
    main()

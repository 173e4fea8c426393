"""Makes, from a seed, a folder of hostile files, and of paths that are no files."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from tests.attack.hostile_bytes import worse
from tests.attack.processes import ROOT
from tests.cli.process import environment

SECRET = "dt_secret_that_nobody_may_say"
TEXTS = {
    "softmax.dt": (ROOT / "examples" / "softmax.dt"),
    "attention.dt": (ROOT / "examples" / "attention.dt"),
    "matmul.dt": (ROOT / "examples" / "matmul.dt"),
    "conv.dt": (ROOT / "examples" / "conv2d.dt"),
    "space.dts": (ROOT / "examples" / "spaces" / "softmax.dts"),
}
SPACE = """\
algorithm "softmax.dt";
softmax.block(x:{2, 4}); softmax.tensorize(x:0, y:{64, 128}); total.fuse_at(softmax, x);
softmax.compile();
"""
TUNED = """\
algorithm "softmax.dt";

{
  # for NVIDIA H200, f32: x = 4096, y = 1024..4096
  # 0.0431 ms at x = 4096, y = 4096
  softmax.block(x:4), softmax.tensorize(x:0, y:512), total.fuse_at(softmax, x), softmax.compile()
|
  # for NVIDIA H200, f16: x = 4096, y = 1024
  softmax.block(x:1), softmax.tensorize(x:0, y:0), total.fuse_at(softmax, x), softmax.compile()
};
"""
# A file may use these ways to name another one that it should not reach.
NAMES_SECRET = ("../secret.txt", "./../secret.txt", "linked.dt", "..//secret.txt", "/dev/stdin")
ODD_NAMES = (
    *('a"b', "a'b", "a\nb", "a\n__import__('os').mkdir('canary')\n#", "\x1b[2J", "-o"),
    *("a\r\nimport os", "\u202eb", "a" * 200, "%s{0}", "a;b$(c)", "\u2028import os"),
)
KINDS = ("dt", "dts", "tuned", "py", "proof", "store")
FILES = {
    "dt": ("softmax.dt", "attention.dt", "matmul.dt", "conv.dt"),
    "dts": ("space.dts", "small.dts"),
    "tuned": ("tuned.dts",),
    "py": ("softmax.py", "matmul.py"),
    "proof": ("softmax.proof",),
    "store": ("small.sqlite",),
}


def _dtpoly(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "dtpoly", *words]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace")
        raise RuntimeError(f"a good file cannot be made: dtpoly {' '.join(words)}\n{said}")


@cache
def base() -> dict[str, bytes]:
    """Return good files of every kind, which are made once in each worker."""
    folder = Path(mkdtemp(prefix="dtpoly-hostile-"))
    for name, path in TEXTS.items():
        (folder / name).write_bytes(path.read_bytes())
    (folder / "small.dts").write_text(SPACE)
    for name in ("softmax", "matmul"):
        _dtpoly(folder, "compile", f"{name}.dt", "-o", f"{name}.py")
    _dtpoly(folder, "verify", "softmax.dt", "--certificate", "softmax.proof")
    run = ("explore", "small.dts", "--simulate", "--size", "x=8,y=128", "-o", "small.sqlite")
    _dtpoly(folder, *run)
    (folder / "tuned.dts").write_text(TUNED)
    return {one.name: one.read_bytes() for one in sorted(folder.iterdir()) if one.is_file()}


@dataclass(frozen=True)
class Folder:
    """The folder of one attempt, and the files outside of it that must stay as they are."""

    path: Path
    canary: Path
    secret: Path

    @property
    def payloads(self) -> tuple[str, ...]:
        """Return texts that leave a trace if something runs them."""
        touch = f"open({str(self.canary)!r}, 'w')"
        return (
            touch,
            f"\n{touch}\n",
            f"'+str({touch})+'",
            f'"); {touch} #',
            "__import__('os').environ.__setitem__('DT_CANARY', '1')",
            f"'; ATTACH DATABASE '{self.canary}' AS more; --",
            f"`touch {self.canary}`",
            f"$(touch {self.canary})",
        )


def folder_of(where: Path, random: Random) -> Folder:
    """Write good files, each of which may be made bad."""
    inside = where / "inside"
    inside.mkdir()
    made = Folder(inside, where / "canary", where / "secret.txt")
    made.secret.write_text(f"{SECRET} = 1;\nFunc {SECRET};\n")
    good = base()
    others = tuple(good.values())
    for name, data in good.items():
        is_bad = random.random() < 0.5
        bad = worse(data, random, others, made.payloads) if is_bad else data
        (inside / name).write_bytes(bad)
    return made


def odd_path(folder: Folder, kind: str, random: Random) -> str:
    """Return the name of something that is no file, or not the file that its name says."""
    inside = folder.path
    end = {"py": ".py", "proof": ".json", "store": ".sqlite", "tuned": ".dts"}.get(kind, f".{kind}")
    match random.randrange(13):
        case 0:
            return "missing" + end
        case 1:
            (inside / f"folder{end}").mkdir(exist_ok=True)
            return f"folder{end}"
        case 2:
            link = inside / f"link{end}"
            if not link.is_symlink():
                link.symlink_to(folder.secret)
            return link.name
        case 3:
            link = inside / f"loop{end}"
            if not link.is_symlink():
                link.symlink_to(link)
            return link.name
        case 4:
            return _pipe(inside / f"pipe{end}", random)
        case 5:
            return "/dev/null"
        case 6:
            return random.choice(("", ".", "..", "-", "--", "\x00", "a\x00b", "~", "*" + end))
        case 7:
            return "x" * random.choice((255, 300, 5000)) + end
        case 8:
            path = inside / (random.choice(ODD_NAMES) + end)
            path.write_bytes(base()[random.choice(FILES[kind])])
            return path.name
        case 9:
            path = inside / os.fsdecode(b"\xff\xfe" + end.encode())
            path.write_bytes(base()[random.choice(FILES[kind])])
            return path.name
        case 10:
            path = inside / f"closed{end}"
            path.write_bytes(base()[random.choice(FILES[kind])])
            path.chmod(0)
            return path.name
        case 11:
            path = inside / f"names{end}"
            path.write_text(f'algorithm "{random.choice(NAMES_SECRET)}";\nsoftmax.compile();\n')
            linked = inside / "linked.dt"
            if not linked.is_symlink():
                linked.symlink_to(folder.secret)
            return path.name
        case _:
            other = random.choice(KINDS)
            return random.choice(FILES[other])


def _pipe(path: Path, random: Random) -> str:
    """Make a named pipe, into which a thread writes as soon as it is opened."""
    data = random.choice([*base().values()])[:60_000]
    if path.exists():
        return path.name
    os.mkfifo(path)

    def fill() -> None:
        try:
            with path.open("wb") as file:
                file.write(data)
        except OSError:  # nobody reads it to the end
            pass

    threading.Thread(target=fill, daemon=True).start()
    return path.name


def close_pipes(folder: Path) -> None:
    """Release threads that wait for a reader."""
    for path in folder.glob("pipe*"):
        if path.is_fifo():
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))

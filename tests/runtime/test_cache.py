"""Nobody but its owner decides what comes out of the cache, and no entry says what it did not."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import dtpoly
from dtpoly.runtime.cache import key, remembered
from dtpoly.verification import verified
from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.texts import changed, text_of, written

GOOD, POISON = "what was made", "what nobody made"
SUM = written("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();")
TEXT = text_of(SUM)
WRONG = changed(TEXT, "range(0, k_size)", "range(1, k_size)")


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def asked(part: str = "one") -> tuple[str, bool]:
    """Return what comes out, and whether it was made for that."""
    made = list[str]()

    def make() -> str:
        made.append(part)
        return GOOD

    return remembered([part], make), bool(made)


def entry(base: Path) -> Path:
    (path,) = (base / "texts").iterdir()
    return path


def edit(change: Callable[[str], str]) -> Callable[[Path], None]:
    def apply(base: Path) -> None:
        path = entry(base)
        path.write_text(change(path.read_text()))

    return apply


def link(base: Path) -> None:
    path = entry(base)
    real = base / "real"
    path.rename(real)
    path.symlink_to(real)


def pipe(base: Path) -> None:
    path = entry(base)
    path.unlink()
    os.mkfifo(path)


def hole(base: Path) -> None:
    """Much longer than the memory that there is for it, of which the disk has next to nothing."""
    os.truncate(entry(base), 2**42)


def new_key(base: Path) -> None:
    (base / "key").write_bytes(b"0" * 32)


def cut_key(base: Path) -> None:
    (base / "key").write_bytes(b"0")


def from_another_entry(base: Path) -> None:
    path = entry(base)
    asked("another")
    (other,) = set((base / "texts").iterdir()) - {path}
    shutil.copy(other, path)
    other.unlink()


# Each leaves an entry in place that must not come out.
POISONED: dict[str, Callable[[Path], None]] = {
    "another text": edit(lambda text: text.replace(GOOD, POISON)),
    "another text, with the hash that had been enough": edit(
        lambda _: f"{key([POISON])}\n{POISON}"
    ),
    "a longer text": edit(lambda text: text + POISON),
    "a text that was cut off": edit(lambda text: text[:-1]),
    "no first line": edit(lambda _: POISON),
    "an empty first line": edit(lambda _: f"\n{POISON}"),
    "a first line that is not ASCII": edit(lambda _: f"\xe9\n{POISON}"),
    "nothing": edit(lambda _: ""),
    "the entry of something else": from_another_entry,
    "another key": new_key,
    "a key of which half is there": cut_key,
    "a key that others can read": lambda base: (base / "key").chmod(0o644),
    "an entry that others can write": lambda base: entry(base).chmod(0o666),
    "an entry that is a link": link,
    "an entry that is a pipe": pipe,
    "an entry that is too long": hole,
    "a folder of entries that others can write": lambda base: (base / "texts").chmod(0o777),
    "a folder that the group can write": lambda base: base.chmod(0o770),
    "a folder that others can write": lambda base: base.chmod(0o1777),
}


@pytest.mark.parametrize("name", POISONED)
def test_a_poisoned_entry_does_not_come_out(name: str, base: Path) -> None:
    assert asked() == (GOOD, True)
    assert asked() == (GOOD, False)
    POISONED[name](base)
    assert asked() == (GOOD, True)


def test_nobody_else_can_look_into_it(base: Path) -> None:
    before = os.umask(0)
    try:
        asked()
    finally:
        os.umask(before)
    for path in (base, *base.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_may_be_a_link_of_its_user(base: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    base.symlink_to(tmp_path / "elsewhere")
    assert [asked()[1], asked()[1]] == [True, False]
    (tmp_path / "elsewhere").chmod(0o777)
    assert [asked()[1], asked()[1]] == [True, True]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("what", ["", "texts", "key"])
def test_what_belongs_to_another_user_is_not_used(base: Path, what: str) -> None:
    asked()
    os.chown(base / what, 12345, 12345)
    assert asked()[1]


def test_an_edited_verdict_is_not_believed(base: Path) -> None:
    assert verified(SUM, WRONG).verdict is LayerVerdict.REFUTED
    (path,) = (base / "proofs").iterdir()
    body = path.read_text().partition("\n")[2].replace('"refuted"', '"proved"')
    path.write_text(f"{key([body])}\n{body}")
    assert verified(SUM, WRONG).verdict is LayerVerdict.REFUTED


def test_the_proof_of_another_text_is_not_believed(base: Path) -> None:
    assert verified(SUM, WRONG).verdict is LayerVerdict.REFUTED
    (wrong,) = (base / "proofs").iterdir()
    assert verified(SUM, TEXT).verdict is LayerVerdict.PROVED
    (right,) = set((base / "proofs").iterdir()) - {wrong}
    shutil.copy(right, wrong)
    assert verified(SUM, WRONG).verdict is LayerVerdict.REFUTED


def test_an_edited_kernel_is_neither_proved_nor_run(base: Path) -> None:
    """The text that is proved is the one that is run, wherever it came from."""
    text = "Func f; In A; Var x; f[x] = A[x] * 2; f.compile();"
    assert " * 2" in dtpoly.parse(text).source
    (path,) = (base / "texts").iterdir()
    path.write_text(path.read_text().replace(" * 2", " * 3"))
    assert " * 2" in dtpoly.parse(text).source
    for shown in (base / "modules").rglob("*.py"):
        shown.write_text(shown.read_text().replace(" * 2", " * 3"))
    assert " * 2" in dtpoly.parse(text).source

"""`dtpoly cost` and `dtpoly device`."""

import json
from pathlib import Path

import pytest

from dtpoly.explore.devices.devices import devices, entry_of
from tests.cli.conftest import Entry
from tests.conftest import Golden

EXAMPLES = Path(__file__).parents[2] / "examples"
SUM = b"Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); f.block(x:1); f.compile();"


@pytest.mark.parametrize(
    ("name", "sizes", "dtype"),
    [
        ("half_matmul", "m=4096,n=4096,k=4096", "bf16"),
        ("wide_softmax", "x=8192,y=50257", "f32"),
        ("cross_entropy", "x=8192,y=128256", "bf16"),
    ],
)
def test_as_it_was(
    name: str,
    sizes: str,
    dtype: str,
    call: Entry,
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(EXAMPLES)
    code, out, err = call("cost", f"{name}.dt", "--size", sizes, "--dtype", dtype)
    assert (code, err) == (0, "")
    golden(f"cost/{name}.txt", out)


def test_json(call: Entry) -> None:
    code, out, _ = call("cost", "-", "--size", "x=4096,y=4096", "--json", stdin=SUM)
    document = json.loads(out)
    assert (code, document["version"], document["device"]) == (0, 1, "h200")
    (kernel,) = document["kernels"]
    assert kernel["programs"] == 4096
    assert document["seconds"] == kernel["seconds"]
    loads, stores = kernel["operands"]
    assert (loads["array"], loads["ideal"], loads["is_store"]) == ("A", 4 * 4096**2, False)
    assert (stores["array"], stores["ideal"], stores["is_store"]) == ("f", 4 * 4096, True)


def test_missing_sizes(call: Entry) -> None:
    code, _, err = call("cost", "-", "--size", "x=4", stdin=SUM)
    assert code == 2
    assert "error[DT170]: the size of 'y' must be passed" in err


def test_a_refused_schedule(call: Entry) -> None:
    code, _, err = call("cost", "-", "--size", "x=4,y=4", stdin=SUM.replace(b"block(x", b"block(z"))
    assert code == 1
    assert "error[" in err


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("h20", "no device 'h20'; did you mean 'h200'?"),
        ("toaster", f"no device 'toaster'; known are {', '.join(devices())}"),
        ("missing.json", "'missing.json' cannot be read: No such file or directory"),
    ],
)
def test_unknown_devices(word: str, said: str, call: Entry) -> None:
    code, _, err = call("cost", "-", "--size", "x=4,y=4", "--device", word, stdin=SUM)
    assert code == 2
    assert said in " ".join(err.split())


def test_a_device_from_a_file(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"mine": entry_of(devices()["a100"])}))
    options = ("--size", "x=4096,y=4096", "--json", "--device")
    mine, known = (
        json.loads(call("cost", "-", *options, device, stdin=SUM)[1])
        for device in (str(path), "a100")
    )
    assert (mine.pop("device"), known.pop("device")) == ("mine", "a100")
    assert mine == known


def test_a_file_that_is_no_device(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    code, _, err = call("cost", "-", "--size", "x=4,y=4", "--device", str(path), stdin=SUM)
    assert code == 2
    assert "cannot be read" in err


def test_no_gpu_to_measure(call: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    code, out, err = call("device")
    assert (code, out) == (1, "")
    assert "no GPU that torch can use was found" in err
    assert "hint" in err


def test_a_file_of_another_kind(call: Entry) -> None:
    code, _, err = call("device", "-o", "mine.txt")
    assert code == 2
    assert "its name must end in .json" in err


def test_panels_have_a_launch_each(call: Entry) -> None:
    text = (
        b"Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
        b"f[m, n] = rdot(A[m, k], g[n, k], k); f.panels(n:7); f.compile();"
    )
    sizes = ("--size", "m=8,n=65,k=8")
    out = call("cost", "-", *sizes, stdin=text)[1]
    assert "if there were one panel" in out
    assert "'g' and 'f' are computed in panels of 7 of n: 10 of them, in 20 launches;" in out
    data = json.loads(call("cost", "-", *sizes, "--json", stdin=text)[1])
    assert data["launches"] == 20
    assert data["panels"] == [{"label": "n", "size": 7, "count": 10, "kernels": ["g", "f"]}]

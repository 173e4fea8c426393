"""On a GPU: AOTInductor packages visible kernels, which run without dtpoly or without Python."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.training.differentiable import differentiable
from tests.training.test_operators import NORM

# Inductor of some versions of torch uses what torch calls deprecated, and captures empty graphs.
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

EXPORT: Callable[..., Any] = vars(torch.export)["export"]

# A process that has torch, and neither dtpoly nor this checkout.
ALONE = """
import sys
import torch
from torch._inductor import aoti_load_package

saved = torch.load(sys.argv[2])
found = aoti_load_package(sys.argv[1])(saved["x"].cuda(), saved["w"].cuda())
torch.testing.assert_close(found.cpu(), saved["wanted"])
assert "dtpoly" not in sys.modules
print("it is right", flush=True)
"""

WITHOUT_PYTHON = """
#include <fstream>
#include <iterator>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>

int main(int count, char **words) {
  torch::inductor::AOTIModelPackageLoader loader(words[1]);
  std::ifstream file(words[2], std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto saved = torch::pickle_load(bytes).toGenericDict();
  at::Tensor x = saved.at("x").toTensor().cuda(), w = saved.at("w").toTensor().cuda();
  at::Tensor found = loader.run({x, w})[0].cpu();
  return torch::allclose(found, saved.at("wanted").toTensor(), 1e-5, 1e-5) ? 0 : 1;
}
"""


class Layer(torch.nn.Module):
    """A norm by our kernels, and something beside it that Inductor compiles itself."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = differentiable(dtpoly.parse(NORM), save="total", visible=True)

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.norm(x, w, 0.5)
        return found.sin()


class Plain(torch.nn.Module):
    """A layer without any kernel of ours."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x * w).sin()


def package_of(layer: torch.nn.Module, folder: Path) -> tuple[Path, dict[str, torch.Tensor]]:
    """Make a package, and return it with inputs and what the layer computes of them."""
    layer = layer.cuda()
    given = torch.randn(7, 8), torch.randn(8)
    on_gpu = tuple(one.cuda() for one in given)
    with torch.no_grad():
        exported = EXPORT(layer, on_gpu)
        wanted = layer(*on_gpu).cpu()
    to = folder / "layer.pt2"
    inductor: Any = vars(torch)["_inductor"]
    inductor.aoti_compile_and_package(exported, package_path=str(to))
    return to, {"x": given[0], "w": given[1], "wanted": wanted}


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    """A package of a layer with kernels of ours."""
    return package_of(Layer(), tmp_path_factory.mktemp("package"))


def run(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command elsewhere, where no module of this checkout is found."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, check=False
    )


def ended(command: Sequence[str | Path], folder: Path) -> None:
    """Run a command that must end well."""
    found = run(command, folder)
    assert found.returncode == 0, f"{found.stdout[-300:]}\n{found.stderr[-3000:]}"


def alone(package: tuple[Path, dict[str, torch.Tensor]], folder: Path) -> list[str | Path]:
    """Return a command that runs a package in a process without this checkout."""
    tensors = folder / "tensors.pt"
    torch.save(package[1], tensors)
    return [sys.executable, "-X", "faulthandler", "-c", ALONE, package[0], tensors]


def test_a_process_without_dtpoly(
    packaged: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    found = run(alone(packaged, tmp_path), tmp_path)
    if found.returncode < 0:
        # Some builds of torch end with a fault where they load any package at all.
        plain = run(alone(package_of(Plain(), tmp_path), tmp_path), tmp_path)
        if plain.returncode == found.returncode:
            pytest.skip("this torch cannot load a package of x * w either")
    assert found.returncode == 0, f"{found.stdout[-300:]}\n{found.stderr[-3000:]}"


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler of C++")
def test_a_program_without_python(
    packaged: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    from torch.utils import cpp_extension

    package, tensors = packaged
    torch.save(tensors, tmp_path / "tensors.pt")
    (tmp_path / "run.cpp").write_text(WITHOUT_PYTHON)
    headers = [f"-I{one}" for one in cpp_extension.include_paths("cuda")]
    folder = str(Path(torch.__file__).parent / "lib")
    libraries = ["-ltorch", "-ltorch_cpu", "-ltorch_cuda", "-lc10", "-lc10_cuda"]
    linked = [f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--no-as-needed", *libraries]
    made = tmp_path / "run"
    new = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    ended(
        ["c++", "-std=c++20", "-O0", new, *headers, "-o", made, tmp_path / "run.cpp", *linked],
        tmp_path,
    )
    ended([made, package, tmp_path / "tensors.pt"], tmp_path)

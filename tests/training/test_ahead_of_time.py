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


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    """A package, and inputs with what the layer computes of them."""
    layer = Layer().cuda()
    given = torch.randn(7, 8), torch.randn(8)
    on_gpu = tuple(one.cuda() for one in given)
    with torch.no_grad():
        exported = EXPORT(layer, on_gpu)
        wanted = layer(*on_gpu).cpu()
    to = tmp_path_factory.mktemp("package") / "layer.pt2"
    inductor: Any = vars(torch)["_inductor"]
    inductor.aoti_compile_and_package(exported, package_path=str(to))
    return to, {"x": given[0], "w": given[1], "wanted": wanted}


def ended(command: Sequence[str | Path], folder: Path) -> None:
    """Run a command elsewhere, where no module of this checkout is found."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, f"{found.stdout[-300:]}\n{found.stderr[-3000:]}"


def test_a_process_without_dtpoly(
    packaged: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    package, tensors = packaged
    torch.save(tensors, tmp_path / "tensors.pt")
    ended(
        [sys.executable, "-X", "faulthandler", "-c", ALONE, package, tmp_path / "tensors.pt"],
        tmp_path,
    )


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

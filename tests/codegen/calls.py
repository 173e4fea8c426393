"""Makes functions to call from the text of a source, and shows how a call is refused."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.running import imported

ADD = "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[y]; f.tensorize(x:4, y:8);"
SCALARS = (
    "Func f; In A; SIn a, n: u8, c: bool; Var x; f[x] = A[x] * a + where(c, n, 0);f.tensorize(x:4);"
)


def zeros(*shape: int) -> torch.Tensor:
    """Return zeros that torch does not store."""
    made: Callable[..., torch.Tensor] = vars(torch)["_efficientzerotensor"]
    return made(shape)


def text(source: str) -> str:
    return code_of(judge(load(Source("test.dt", source)), DIRECTIVES).scheduled).text


def module(source: str) -> ModuleType:
    return imported(text(source))


def refused(error: type[Exception], function: Callable[..., Any], *given: Any, **named: Any) -> str:
    """Return the message with which a call is refused."""
    with pytest.raises(error) as caught:
        function(*given, **named)
    assert type(caught.value) is error
    return str(caught.value)

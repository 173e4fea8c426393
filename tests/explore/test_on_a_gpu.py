"""On a GPU: candidates of all kinds through a worker of its own; those that break it end no run."""

from pathlib import Path

import pytest

from tests.explore.on_a_gpu import tried

pytestmark = pytest.mark.gpu


def test_candidates_of_all_kinds(tmp_path: Path) -> None:
    assert tried(tmp_path) == []

"""The primitive `inline`."""

from tests.schedule.told import ATTENTION, TWO, only, told


def test_an_elementwise_func() -> None:
    assert told(f"{TWO} g.inline();") == []


def test_a_compiled_func() -> None:
    found = only(f"{TWO} g.compile(); g.inline();")
    assert (found.code, found.title) == ("DT196", "'g' cannot be inlined: it is compiled too")


def test_a_reduction() -> None:
    found = only(f"{ATTENTION} dvsr.inline();")
    assert (found.code, found.title) == ("DT196", "'dvsr' cannot be inlined: it is a reduction")
    assert "dvsr.fuse_at(sm, label)" in found.hint


def test_a_fused_func() -> None:
    assert told(f"{TWO} g.fuse_at(f, x); g.inline();") == ["DT196 g.inline()"]


def test_nothing_else_can_be_said_of_it() -> None:
    found = only(f"{TWO} g.inline(); g.block(x:16);")
    assert (found.code, found.label) == ("DT186", "'g' is inlined")
    assert found.hint == "put it on 'f', which computes it"

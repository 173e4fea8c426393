"""Tests that each misuse of operators that train, and of dtpoly.nn, says what to do instead."""

import os

import pytest
import torch

from dtpoly import nn
from dtpoly.diagnostics import DtpolyError
from tests.training.test_operators import expected, leaves, made
from tests.training_examples import CALLS


@pytest.mark.parametrize("name", CALLS)
def test_each_misuse_has_a_code_a_title_and_a_way_out(name: str) -> None:
    with pytest.raises(DtpolyError) as caught:
        CALLS[name]()
    (found,) = caught.value.diagnostics
    assert found.code == name.partition("_")[0]
    assert found.hint
    assert f"error[{found.code}]" in str(caught.value)


def test_messages_leave_an_operator_as_it_was() -> None:
    op, (x, w) = made(), leaves(2, 4)
    for wrong in ((x, w[1:], 0.5), (x.long(), w, 0.5), (x, 1.0, 0.5)):
        with pytest.raises(DtpolyError, match=r"DT279"):
            op(*wrong)
    torch.testing.assert_close(op(x, w, 0.5), expected(x, w))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_an_operator_works_in_a_forked_process_on_the_cpu() -> None:
    op, (x, w) = made(), [one.detach() for one in leaves(2, 4)]
    wanted = op(x, w, 0.5)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        same = torch.equal(op(x, w, 0.5), wanted)
        os.write(write, b"same" if same else b"other")
        os._exit(0)
    os.close(write)
    assert os.read(read, 9) == b"same"
    os.close(read)
    os.waitpid(child, 0)


def test_classes_that_are_ignored_may_be_any_number() -> None:
    logits = torch.zeros(2, 3)
    found = nn.cross_entropy(logits, torch.tensor([9, 1]), ignore_index=9)
    torch.testing.assert_close(found, torch.log(torch.tensor(3.0)))
    with pytest.raises(DtpolyError, match=r"DT283"):
        nn.cross_entropy(logits, torch.tensor([9, 1]))
    with pytest.raises(DtpolyError, match=r"DT283"):
        nn.cross_entropy(logits, torch.tensor([-1, 1]))

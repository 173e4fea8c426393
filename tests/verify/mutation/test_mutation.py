"""Mistakes in emitted files: those that running shows are refuted, none is proved."""

from dataclasses import asdict, replace

import pytest

from tests.codegen.listings import FILES, PRODUCTS, code
from tests.verify.mutation.judging import Job, Subject, execute, judge, subject
from tests.verify.mutation.operators import NAMED, OPERATORS, Operator, mutants
from tests.verify.mutation.telling import Mutant, figures, table, told

# One mistake of each kind, in the files that have such.
SAMPLE = (
    ("softmax", "load without mask"),
    ("softmax", "`where` dropped"),
    ("softmax", "grid too small"),
    ("softmax", "another reduction"),
    ("listing_3_14_swish_partly_fused", "no barrier"),
    ("listing_3_14_swish_partly_fused", "scratch too small"),
    ("listing_3_10_relu_block_tensorize", "program axes exchanged"),
    ("listing_3_17_sum", "wrong start value"),
    ("listing_3_17_sum", "loop starts late"),
    ("listing_4_04_attention", "operands of `-` or `/` swapped"),
)
# Together these have almost every operator.
MANY = (
    *("softmax", "listing_3_14_swish_partly_fused", "listing_3_20_sum_block"),
    *("listing_3_10_relu_block_tensorize", "listing_4_04_attention", "figure_3_05d_map"),
)


def found_of(job: Job) -> list[Mutant]:
    """Return what is found of the mutants of a job."""
    ran = execute(job)
    said = judge(job, [one.outcome for one in ran])
    pairs = zip(ran, said, strict=True)
    return [Mutant(job.file, job.operator, asdict(one), asdict(other)) for one, other in pairs]


@pytest.mark.sampled
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda one: one.name)
def test_an_operator_makes_one_mistake(operator: Operator) -> None:
    for name in (*MANY, *FILES):
        one = subject(name)
        for mutant in mutants(one.text, frozenset(one.funcs), operator, 1):
            assert mutant.text != one.text
            same = sum(a == b for a, b in zip(one.text, mutant.text, strict=False))
            assert same > 0
            assert 0 < mutant.line <= one.text.count("\n")
            return
    pytest.fail("there is no such mistake in any file")


def test_there_are_enough_operators() -> None:
    assert len(NAMED) == len(OPERATORS) >= 25


@pytest.mark.long
@pytest.mark.parametrize(("file", "operator"), SAMPLE)
def test_a_mistake_is_refuted(file: str, operator: str) -> None:
    (one,) = found_of(Job(file, operator, 1))
    assert one.is_wrong, one.ran
    assert one.is_confirmed, one.judged


@pytest.mark.long
@pytest.mark.parametrize("file", MANY)
def test_mistakes_are_refuted(file: str) -> None:
    found = [one for operator in OPERATORS for one in found_of(Job(file, operator.name, 2))]
    wrong = [one for one in found if one.is_wrong]
    told_of = [one for one in wrong if one.is_confirmed or one.is_tried_wrong]
    assert not [one for one in wrong if one.verdict == "proved"]
    assert not [one for one in found if one.judged["more"].startswith("wrong")]
    assert len(told_of) >= 0.95 * len(wrong) > 20
    assert table(found).row_count == len({one.operator for one in found}) + 1
    assert told("", {}, found)["figures"] == figures(found)


def test_subjects_are_what_is_emitted() -> None:
    for name in PRODUCTS:
        one = subject(name)
        assert isinstance(one, Subject)
        assert replace(one, text="").funcs == tuple(code(name).stages.outputs)

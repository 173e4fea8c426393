"""In which order points are emitted."""

from dtpoly.explore.run import emission
from dtpoly.explore.run.emission import near


def test_points_that_share_their_first_choices_come_one_after_the_other() -> None:
    points = [(1, 2), (0, 1), (1, 0), (0, 0)]
    assert [*near(points)] == [(0, 0), (0, 1), (1, 0), (1, 2)]


def test_no_more_points_are_drawn_than_come_together() -> None:
    drawn: list[int] = []

    def draws(at: int) -> tuple[int, ...]:
        drawn.append(at)
        return (-at,)

    most = emission.TOGETHER
    found = near(draws(at) for at in range(most + 2))
    assert next(found) == (1 - most,)
    assert len(drawn) == most
    assert [*found][-2:] == [(-most - 1,), (-most,)]

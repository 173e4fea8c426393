"""Chooses a schedule for an algorithm without one, for the sizes of the call at hand."""

from collections.abc import Mapping

from dtpoly.algorithm.dtypes import DType
from dtpoly.api import Scheduled
from dtpoly.explore.devices.devices import DEFAULT, find_device
from dtpoly.training.gradient_schedules import like
from dtpoly.tuned.choosing import model_of, text_at_hand


def scheduled_for(
    scheduled: Scheduled, sizes: Mapping[str, int], dtype: DType, device: str
) -> Scheduled:
    """Return an algorithm with the schedule that seems fastest at some sizes on a GPU.

    The schedule is kept on disk. What has none that fits is computed as without a schedule.
    """
    found = model_of(device) or find_device(DEFAULT)
    words = (scheduled.name, str(scheduled), scheduled.primitives, sizes, dtype, found)
    return like(scheduled, text_at_hand(*words), scheduled.name)

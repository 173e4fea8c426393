"""Every campaign. To add one, write its module and a line here, and a line in docs/attack.md."""

from tests.attack.campaign import Campaign

CAMPAIGNS = (
    Campaign(
        "toy",
        "It fails in every way in which an attempt can fail; with it the runner itself is tested.",
        "tests.attack.toy",
        seconds=4.0,
        bytes=600 * 2**20,
        is_hidden=True,
    ),
    Campaign(
        "pairs_check",
        "Random algorithms with random schedules are checked: no error of ours, in time.",
        "tests.attack.pairs_check",
    ),
    Campaign(
        "pairs_compile",
        "Random algorithms with random schedules are compiled and proved.",
        "tests.attack.pairs_compile",
        seconds=120.0,
    ),
)

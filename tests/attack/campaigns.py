"""Lists every campaign. To add one, write its module, a line here, and a line in docs/attack.md."""

from tests.attack.campaign import Campaign

CAMPAIGNS = (
    Campaign(
        "mutants",
        "Emitted and hand-written files of kernels are changed, and what is proved of them is run.",
        "tests.attack.mutants.campaign",
        seconds=180.0,
        # Each mutant is run in a process of its own, which counts here though it shares memory.
        bytes=8 * 2**30,
        # The things that a worker keeps of a subject take a second or two to make.
        attempts_per_worker=4000,
    ),
    Campaign(
        "kernels",
        "What the verifier reads of random whole kernels, against Triton's interpreter.",
        "tests.attack.kernels",
    ),
    Campaign(
        "certificates",
        "Certificates are forged: each that does not prove what it says must be rejected.",
        "tests.attack.certificates.campaign",
        seconds=240.0,
        bytes=4 * 2**30,
        attempts_per_worker=1000,
    ),
    Campaign(
        "operations",
        "What the verifier reads of random single operations, against Triton's interpreter.",
        "tests.attack.operations",
    ),
    Campaign(
        "kernels_gpu",
        "What the verifier reads of random whole kernels, against a GPU.",
        "tests.attack.kernels_gpu",
        bytes=10 * 2**30,
        is_interpreted=False,
        needs_gpu=True,
        is_started_slowly=True,
    ),
    Campaign(
        "operations_gpu",
        "What the verifier reads of random single operations, against a GPU.",
        "tests.attack.operations_gpu",
        seconds=240.0,
        bytes=10 * 2**30,
        is_interpreted=False,
        needs_gpu=True,
        is_started_slowly=True,
    ),
    Campaign(
        "handwritten",
        "Right kernels that people might write: no proof of one may be lost, and each is run.",
        "tests.attack.handwritten.campaign",
        bytes=6 * 2**30,
    ),
    Campaign(
        "splices",
        "Random statements of all kinds are put into files: such a file is refused, or the same.",
        "tests.attack.splices",
        is_interpreted=False,
    ),
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
    Campaign(
        "large",
        "Programs that grow: each is compiled, or a limit is named, in time and in memory.",
        "tests.attack.large",
        # A command runs in a process of its own, whose processor time counts.
        seconds=700.0,
        bytes=8 * 2**30,
    ),
    Campaign(
        "commands",
        "Hostile files and words for every command: each ends with a message, and does no more.",
        "tests.attack.commands",
        attempts_per_worker=5000,
    ),
)

"""`python -m tests.attack.handwritten`: the share of right hand-written kernels that is PROVED.

Both shares are told, that of the commit in `proved.txt` and that of now, and what was lost. With
`--record COMMIT` the list is made anew: run it with the `dtpoly` of that commit.
"""

import argparse
import sys

from dtpoly.verify.proof.report import LayerVerdict
from tests.attack.handwritten.files import BEFORE, FILES, proved_before, report


def main() -> None:
    """Verify all files, and compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.handwritten")
    parser.add_argument("--record", metavar="COMMIT", help="make the list anew, for this commit")
    given = parser.parse_args()
    reports = {name: report(name) for name in FILES}
    proved = {name for name, one in reports.items() if one.verdict is LayerVerdict.PROVED}
    if given.record:
        BEFORE.write_text("\n".join((f"# {given.record}", *sorted(proved))) + "\n")
    commit, before = proved_before()
    print(f"{len(before)} of {len(FILES)} were PROVED at {commit}")
    print(f"{len(proved)} of {len(FILES)} are PROVED now")
    for name in sorted(FILES.keys() - proved):
        bad = [one for one in reports[name].layers if one.verdict is not LayerVerdict.PROVED]
        lost = "lost: " if name in before else ""
        print(f"  {lost}{name}, line {bad[0].line}: {bad[0].name}: {bad[0].why}")
    sys.exit(1 if before - proved else 0)


if __name__ == "__main__":
    main()

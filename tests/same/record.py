"""The record of what the compiler did, in one compressed file: read, and written again.

The texts themselves are kept, not digests alone and not a commit to make them with: so a difference
is shown as one of lines, where there is no history (an unpacked archive, a shallow clone) as well,
and with no second environment in which an old commit still runs. Texts are so much alike that
compressed they take little. Functions that many files share are kept once.
"""

import json
import lzma
from collections.abc import Iterable
from pathlib import Path

from tests.same.outcome import Entry, as_data, of_data

FROZEN = Path(__file__).with_name("frozen.json.xz")
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26}]


def read_record(path: Path = FROZEN) -> list[Entry]:
    """Read all entries, in their order."""
    data = json.loads(lzma.decompress(path.read_bytes()))
    texts = data["pieces"]
    return [
        Entry(one["name"], one["text"], one.get("proof", False), of_data(one["outcome"], texts))
        for one in data["entries"]
    ]


def write_record(entries: Iterable[Entry], path: Path = FROZEN) -> None:
    """Write these entries, and nothing else."""
    kept = list(entries)
    texts = {piece.digest: piece.text for one in kept for piece in one.outcome.pieces}
    listed = [
        {
            "name": one.name,
            "text": one.text,
            **({"proof": True} if one.asks_proof else {}),
            "outcome": as_data(one.outcome),
        }
        for one in kept
    ]
    data = json.dumps({"entries": listed, "pieces": texts}, indent=0)
    part = path.with_suffix(".part")
    part.write_bytes(lzma.compress(data.encode(), filters=FILTERS))
    part.replace(path)

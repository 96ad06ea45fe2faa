"""What each rule for what enters the graph does to triples that others wrote, to be read.

    python benchmarks/rules.py text_triples.jsonl.gz

The file has objects with ``text``, ``triples`` and, where there is one, ``title``. Every change is
printed: what was written, and what of it stays.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from ras_flow.datasets.reading import read_rows
from ras_flow.formats.quality import RULES


def main(path: Path) -> None:
    """Print the changes, and how many there are."""
    changes: Counter[str] = Counter()
    total = 0
    for row in read_rows(path):
        triples = row.triples("triples")
        total += len(triples)
        title = row.text("title") if row.has("title") else ""
        for name, rule in RULES.items():
            kept = rule(triples, title, row.text("text"))
            for triple in (one for one in triples if one not in kept):
                changes[name] += 1
                print(f"{name}: {triple} in {title!r}")
    print(f"{total} triples: {dict(changes)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

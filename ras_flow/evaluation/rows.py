"""The rows of an evaluation: one for each question and system, written at once or not at all."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ras_flow.datasets.reading import read_json_lines
from ras_flow.errors import ConfigurationError, InputError, RunError
from ras_flow.evaluation.outcome import Outcome
from ras_flow.formats.text import scrub_all
from ras_flow.support.files import writing
from ras_flow.support.validation import checked

FILE = "rows.sqlite"

_TABLES = """
PRAGMA journal_mode=WAL;
CREATE TABLE IF NOT EXISTS cells
    (benchmark TEXT, system TEXT, settings TEXT, PRIMARY KEY (benchmark, system));
CREATE TABLE IF NOT EXISTS rows
    (benchmark TEXT, system TEXT, id TEXT, record TEXT, PRIMARY KEY (benchmark, system, id));
CREATE TABLE IF NOT EXISTS asked (benchmark TEXT, id TEXT, PRIMARY KEY (benchmark, id));
"""

WRONG_BELOW = 0.5
"""Score of the main metric below which an answer counts as wrong."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a system made of one question, and what that is worth.

    The main metric is the first of ``scores``; ``measures`` are those of the steps, such as recall.
    ``saved_tokens`` (read and written, by role) are in the outcome but were not paid for, since
    another system had asked the same. ``judging`` is the version of the judging; ``gold`` is a
    checksum of gold and metrics, ``given`` of the documents that the run was given.
    """

    benchmark: str
    system: str
    id: str
    question: str
    answers: tuple[str, ...]
    kind: str = ""
    run: str = ""
    outcome: Outcome = Outcome()
    scores: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)
    error_class: str = ""
    why: str = ""
    saved_tokens: Mapping[str, list[int]] = field(default_factory=dict)
    judging: int = 0
    gold: str = ""
    given: str = ""

    @property
    def score(self) -> float:
        """Score of the main metric, in [0, 1]."""
        return next(iter(self.scores.values()), 0.0)

    @property
    def right(self) -> bool:
        """Whether the answer counts as right."""
        return self.score >= WRONG_BELOW


_NEEDED = ("question", "answers")

ROW = TypeAdapter(Row)
"""Reads rows from JSON."""


def as_json(row: Row) -> str:
    """Return a row as JSON; what cannot be stored is replaced."""
    return json.dumps(scrub_all(asdict(row)))


def export_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write scores, costs and answers as JSON lines, without the benchmarks' own texts."""
    lines = []
    for row in rows:
        outcome = replace(row.outcome, support="", hops=())
        bare = replace(row, question="", answers=(), why="", outcome=outcome, saved_tokens={})
        record = scrub_all(asdict(bare))
        record["outcome"] = {k: v for k, v in record["outcome"].items() if v or v is False}
        lines.append(json.dumps({k: v for k, v in record.items() if v or k in _NEEDED}) + "\n")
    written = "".join(lines).encode()
    with writing(path):
        path.write_bytes(gzip.compress(written, mtime=0) if path.suffix == ".gz" else written)


def exported_rows(path: Path) -> list[Row]:
    """Read what :func:`export_rows` wrote."""
    return [
        checked(ROW, value, f"{path}:{number}", InputError)
        for number, value in read_json_lines(path)
    ]


class Rows:
    """The rows of a run folder, in a database that survives a kill at any moment."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._where = folder / FILE
        with _told(self._where):
            self._db = sqlite3.connect(self._where, check_same_thread=False)
        with self._using() as db:
            db.executescript(_TABLES)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def agree(self, benchmark: str, system: str, settings: Mapping[str, Any]) -> None:
        """Refuse settings of a cell that differ from those of its rows."""
        cell = (benchmark, system)
        of_cell = "WHERE benchmark = ? AND system = ?"
        with self._using() as db:
            known = db.execute(f"SELECT settings FROM cells {of_cell}", cell).fetchone()
            answered = db.execute(f"SELECT 1 FROM rows {of_cell} LIMIT 1", cell).fetchone()
        if not known or not answered or known[0] == _noted(settings):
            return
        changed = _changed(json.loads(known[0]), json.loads(_noted(settings)))
        raise ConfigurationError(
            f"{self._where.parent} holds answers of {system!r} to {benchmark!r} with other "
            f"settings ({changed}). Give the system another name, or choose a new folder."
        )

    def note(self, benchmark: str, system: str, settings: Mapping[str, Any]) -> None:
        """Note the settings of a system on a benchmark, which its rows are made with."""
        with self._using() as db:
            db.execute(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?)",
                (benchmark, system, _noted(settings)),
            )

    def ask(self, benchmark: str, ids: Iterable[str]) -> None:
        """Note which questions of a benchmark are asked; other rows stay, but no longer count."""
        with self._using() as db:
            db.execute("DELETE FROM asked WHERE benchmark = ?", (benchmark,))
            db.executemany("INSERT INTO asked VALUES (?, ?)", [(benchmark, id) for id in ids])

    def asked(self) -> dict[str, int]:
        """Return how many questions of each benchmark are asked."""
        with self._using() as db:
            counts = db.execute("SELECT benchmark, COUNT(*) FROM asked GROUP BY benchmark")
            return dict(counts.fetchall())

    def put(self, row: Row) -> None:
        """Write a row; it is on disk when this returns."""
        values = row.benchmark, row.system, row.id, as_json(row)
        with self._using() as db:
            db.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", values)

    def all(self) -> list[Row]:
        """Return all rows, in the order in which they were written."""
        return self._read("SELECT record FROM rows ORDER BY rowid")

    def current(self) -> list[Row]:
        """Return the rows of questions that are asked, in the order in which they were written."""
        return self._read(
            "SELECT record FROM rows "
            "WHERE (benchmark, id) IN (SELECT benchmark, id FROM asked) "
            "OR benchmark NOT IN (SELECT benchmark FROM asked) ORDER BY rowid"
        )

    def _read(self, query: str) -> list[Row]:
        with self._using() as db:
            found = db.execute(query).fetchall()
        return [ROW.validate_json(record) for (record,) in found]

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """Give one thread the database, within a transaction."""
        with self._lock, _told(self._where), self._db:
            yield self._db


@contextmanager
def open_rows(folder: Path) -> Iterator[Rows]:
    """Open the rows of a run folder."""
    # Unlike Path.is_file, this raises nothing: a name may be too long, a folder closed to us.
    if not os.path.isfile(folder / FILE):
        raise RunError(
            f"The folder {folder} holds no evaluation: give the folder that `ras-flow eval CONFIG "
            "--out FOLDER` wrote."
        )
    with closing(Rows(folder)) as rows:
        yield rows


@contextmanager
def _told(where: Path) -> Iterator[None]:
    """Turn the database's errors into ours."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        # It loads LangGraph, which reading rows does without.
        from ras_flow.runs.databases.stores import advice  # noqa: PLC0415

        raise RunError(f"The rows in {where} cannot be used ({error}). {advice(error)}") from error


def _noted(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return ", ".join(f"{name}: {old.get(name)!r}, now {new.get(name)!r}" for name in names)

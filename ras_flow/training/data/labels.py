"""The rule that one input has one label, and one question one split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from ras_flow.errors import InputError
from ras_flow.formats.normalize import normalize_name, normalize_question
from ras_flow.formats.plan import is_askable
from ras_flow.training.data.records import Record
from ras_flow.training.splits import Split


def input_key(record: Record) -> str:
    """Name what the model reads, in normalised form."""
    parts = [record["task"], record.get("instruction", ""), normalize_question(record["question"])]
    for link in record["chain"]:
        triples = {tuple(map(normalize_name, triple)) for triple in link["triples"]}
        parts += [normalize_question(link["subquery"]), repr(sorted(triples))]
        parts += sorted(" ".join(passage) for passage in link.get("passages", ()))
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def target_key(record: Record) -> str:
    """Name what the model should say, in normalised form."""
    target = record["target"]
    if "answer" in target:
        return normalize_name(target["answer"])
    return f"[{target['label']}] {normalize_question(target.get('subquery', ''))}".strip()


def check_labels(records: Iterable[Record]) -> int:
    """Check that no input has two labels and no question is in two splits."""
    labels: dict[str, tuple[str, str]] = {}
    splits: dict[str, tuple[Split, str]] = {}
    for record in records:
        question, id = normalize_question(record["question"]), record["id"]
        split, first = splits.setdefault(question, (record["split"], id))
        if split != record["split"]:
            raise InputError(
                f"One question is in two splits: {first} in {split}, {id} in {record['split']}. "
                "Build both with the same seed and shares."
            )
        label = target_key(record)
        known, first = labels.setdefault(input_key(record), (label, id))
        if known != label:
            raise InputError(
                f"One input has two labels: {first} says {known!r}, {id} says {label!r}. Leave one "
                "of them out."
            )
    return len(labels)


def leave_out_unaskable(records: Iterable[Record], dropped: dict[str, int]) -> Iterator[Record]:
    """Leave out the first plans of questions that no plan can ask, as of long multiple choice."""
    for record in records:
        target = record["target"]
        if target.get("label") == "SUBQ" and not is_askable(target["subquery"]):
            reason = "plans whose subquery is too long or without a word"
            dropped[reason] = dropped.get(reason, 0) + 1
        else:
            yield record


def keep_first(records: Iterable[Record], dropped: dict[str, int]) -> Iterator[Record]:
    """Keep the first record of each input."""
    seen: dict[str, str] = {}
    for record in records:
        key, label = input_key(record), target_key(record)
        if key not in seen:
            seen[key] = label
            yield record
            continue
        kind = "repeated" if seen[key] == label else "conflicting"
        dropped[kind] = dropped.get(kind, 0) + 1

"""How well a Graph LLM plans and answers, from the graphs and chains of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.components import AnswerRequest, SentenceEncoder
from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.triples import token_f1
from ras_flow.formats.answer import clean_answer
from ras_flow.formats.normalize import normalize_name, normalize_question
from ras_flow.formats.plan import parse_plan
from ras_flow.graph_llm.roles import PLAN_TOKENS
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.training.data.inputs import as_request
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.graphs import Graphs, build_graphs, shuffled

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

AT_ONCE = 256
"""Records between two reports of how far it is."""


@dataclass
class Scores:
    """Sums over records; the properties are their means.

    Attributes:
        records: How many.
        right: Plans with the right label; answers that are the gold answer, normalised.
        unusable: Plans without a label, and empty answers.
        f1: Sum of the words' F1 of answers, and of subqueries where both texts have one.
        compared: Texts that ``f1`` is summed over.
        exact: Of the subqueries compared, those that are the gold one, normalised.
        labels: How often each gold label was answered by which, for plans.
    """

    records: int = 0
    right: int = 0
    unusable: int = 0
    f1: float = 0.0
    compared: int = 0
    exact: int = 0
    labels: dict[str, int] = field(default_factory=dict)

    def as_record(self) -> dict[str, Any]:
        """Return shares, with the number of records that they are of."""
        return {
            "records": self.records,
            "right": _share(self.right, self.records),
            "unusable": _share(self.unusable, self.records),
            "f1": _share(self.f1, self.compared),
            "f1_of": self.compared,
            "exact": _share(self.exact, self.compared),
            "labels": dict(sorted(self.labels.items())),
        }


@dataclass(frozen=True)
class Measures:
    """A model's figures.

    Attributes:
        scores: By task and source; the source ``"all"`` has all of a task.
        texts: What the model wrote, by record's id.
    """

    scores: dict[tuple[str, str], Scores]
    texts: dict[str, str]

    def as_record(self) -> dict[str, Any]:
        """Return the figures as JSON-like data: ``{"plan": {"all": {...}, ...}, ...}``."""
        out: dict[str, Any] = {}
        for (task, source), scores in sorted(self.scores.items()):
            out.setdefault(task, {})[source] = scores.as_record()
        return out

    def summary(self) -> dict[str, float]:
        """Return the few figures that a training log shows."""
        found = {
            task: s.as_record() for (task, source), s in self.scores.items() if source == "all"
        }
        out = {}
        if "plan" in found:
            out["plan_label_accuracy"] = found["plan"]["right"]
        if "answer" in found:
            out["answer_exact_match"] = found["answer"]["right"]
            out["answer_f1"] = found["answer"]["f1"]
        return {name: value for name, value in out.items() if value is not None}


def evaluate_graph_llm(
    model: GraphLLM | Path | str,
    records: Sequence[Record],
    *,
    encoder: SentenceEncoder | None = None,
    graphs: Graphs | None = None,
    shuffle: int | None = None,
    batch_size: int = 8,
    log: Callable[[str], None] = lambda _: None,
) -> Measures:
    """Let a model plan and answer, and compare with the targets.

    Not to be called from a running event loop.

    Args:
        model: A Graph LLM, or a checkpoint's folder.
        records: What to ask, of either task.
        encoder: The sentence encoder of its training; by default the one that it names.
        graphs: The records' graphs, where they were built already.
        shuffle: Seed by which each record gets another one's graph, as a control; None for its
            own.
        batch_size: Records that are decoded at once.
        log: Told how far it is.

    Returns:
        Scores by task and source. The subquery of a first plan is not compared: the question
        itself is the first subquery (eq. 1).

    Raises:
        ConfigurationError: The model cannot be loaded, or the encoder is another one than that
            of its training.
        InputError: A question does not fit into the model's window.
    """
    # Its classes are torch modules, so this imports torch.
    from ras_flow.graph_llm.checkpoint import load_graph_llm  # noqa: PLC0415

    if isinstance(model, Path | str):
        model = load_graph_llm(Path(model))
    if model.config.gnn is None:
        graphs = None
    elif graphs is None:
        trained = model.config.encoder
        encoder = encoder or LocalSentenceEncoder(trained.partition("@")[0])
        if encoder.identity.rpartition("@")[2] != trained.rpartition("@")[2]:
            raise ConfigurationError(
                f"The Graph LLM was trained with the sentence encoder {trained!r}, not with "
                f"{encoder.identity!r}. Set `encoder` to that one."
            )
        graphs = build_graphs(records, encoder)
    if graphs is not None and shuffle is not None:
        graphs = shuffled(graphs, shuffle)
    texts: dict[int, str] = {}
    limits = [_limit(record) for record in records]
    for limit in sorted(set(limits)):
        rows = [row for row, its in enumerate(limits) if its == limit]
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            asked = [as_request(records[row]) for row in part]
            own = [graphs[row] if graphs is not None else None for row in part]
            requests = [replace(one, graph=g) for one, g in zip(asked, own, strict=True)]
            made = model.generate(
                [model.formatter.prompt(one) for one in requests],
                own,
                max_new_tokens=limit,
                batch_size=batch_size,
            )
            texts.update(zip(part, (one.text for one in made), strict=True))
            log(f"{len(texts)} of {len(records)} records")
    scores: dict[tuple[str, str], Scores] = {}
    for row, record in enumerate(records):
        for source in ("all", record["source"]):
            _count(scores.setdefault((record["task"], source), Scores()), record, texts[row])
    return Measures(scores, {record["id"]: texts[row] for row, record in enumerate(records)})


def _limit(record: Record) -> int:
    request = as_request(record)
    return request.max_new_tokens if isinstance(request, AnswerRequest) else PLAN_TOKENS


def _count(scores: Scores, record: Record, text: str) -> None:
    scores.records += 1
    target = record["target"]
    if record["task"] == "answer":
        said = clean_answer(text)
        scores.right += normalize_name(said) == normalize_name(target["answer"])
        scores.exact += normalize_name(said) == normalize_name(target["answer"])
        scores.unusable += not said
        scores.f1 += token_f1(said, target["answer"])
        scores.compared += 1
        return
    plan = parse_plan(text)
    gold = target["label"]
    label = plan.label or ("SUBQ" if plan.wants_subquery and not record["chain"] else None)
    scores.right += label == gold
    scores.unusable += label is None
    pair = f"{gold} -> {label or 'none'}"
    scores.labels[pair] = scores.labels.get(pair, 0) + 1
    if gold == "SUBQ" == label and record["chain"]:
        scores.f1 += token_f1(plan.subquery, target["subquery"])
        scores.exact += normalize_question(plan.subquery) == normalize_question(target["subquery"])
        scores.compared += 1


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None

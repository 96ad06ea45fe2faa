"""The model card of a trained extractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ras_flow.support.markdown import table

_COLUMNS = {
    "texts": "texts",
    "normalised_precision": "precision",
    "normalised_recall": "recall",
    "normalised_f1": "F1",
    "exact_f1": "exact F1",
    "soft_f1": "soft F1",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "unparsable": "unparsable",
    "pronoun_subjects": "pronoun subjects",
}


def model_card(
    record: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]] | None = None
) -> str:
    """Write the card."""
    what = "A LoRA adapter" if record["adapter"] else "A whole model"
    trained, settings = record["trained"], record["settings"]
    optimizer = settings["optimizer"]
    splits = trained["counts"]
    sources = sorted({source for counts in splits.values() for source in counts})
    parts = [
        "# Text-to-triples extractor",
        f"{what} for `{record['base']}` ({record['kind']}) that turns a titled passage into "
        "triples `(S> subject| P> predicate| O> object)`. Use it with `local:FOLDER` as the "
        "extractor of ras-flow.",
        "## Training",
        (f"Begun with the extractor {began}. " if (began := trained.get("began")) else "")
        + f"{trained['examples']} examples, {trained['steps']} steps of "
        f"{optimizer['batch_size']} × {optimizer['accumulation']} examples, learning rate "
        f"{optimizer['learning_rate']}, {optimizer['schedule']} schedule, "
        + (
            f"LoRA of rank {settings['lora']['rank']} on {settings['lora']['targets']}. "
            if record["adapter"]
            else "all weights. "
        )
        + f"Loss on the texts for watching it: {trained['dev_loss']}.",
        table(
            ["source", "training", "of it partial", "watching", "untouched"],
            (_counts(source, splits) for source in sources),
        ),
        "No title and no text is in two of these parts, and none of them has a title of the "
        "passages that measure the recall of answer-bearing facts. Partial labels do not teach "
        "where an output ends.",
        "## Figures",
    ]
    if metrics is None:
        parts.append("Not measured yet.")
    for figures in metrics or ():
        parts.append(f"### {figures['name']}")
        parts.append(
            f"Recall of answer-bearing facts of whole passages: {figures['fact_recall']:.1%} of "
            f"{figures['facts']}. Outputs without a readable triple: {figures['unparsable']:.2%}. "
            f"Pronouns as subjects: {figures['pronoun_subjects']:.2%}. {figures['output_tokens']} "
            "tokens."
        )
        parts.append(
            table(
                ["source", *_COLUMNS.values()],
                (
                    [source, *(scores.get(name, "") for name in _COLUMNS)]
                    for source, scores in figures["sources"].items()
                ),
            )
        )
    parts.append(
        "Precision, recall and F1 are of normalised triples; soft F1 pairs triples by the token F1 "
        "of their parts."
    )
    return "\n\n".join(parts) + "\n"


def _counts(source: str, splits: Mapping[str, Mapping[str, int]]) -> list[str | int]:
    whole, partial, dev, test = (
        splits[part].get(source, 0) for part in ("train", "train_partial", "dev", "test")
    )
    return [source, whole + partial, partial, dev, test]

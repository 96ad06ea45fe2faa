"""Small rows in the published formats of benchmarks, about people and places that do not exist."""

from __future__ import annotations

import json
from typing import Any

CTXS: list[dict[str, Any]] = [
    {"id": str(at), "title": f"Page {at}", "text": f"Halden has {at} bridges.", "score": "1.5"}
    for at in range(7)
]

TRIVIAQA: dict[str, Any] = {
    "Data": [
        {
            "Answer": {
                "Aliases": ["Aach", "River Aach"],
                "NormalizedAliases": ["aach", "river aach"],
                "Type": "WikipediaEntity",
                "Value": "River Aach",
            },
            "EntityPages": [{"DocSource": "TagMe", "Filename": "Lindau.txt", "Title": "Lindau"}],
            "Question": "Which river flows through Lindau?",
            "QuestionId": "tc_1",
            "QuestionSource": "http://www.example.org/",
            "SearchResults": [
                {"Description": "Lindau lies on the Aach.", "Rank": 0, "Title": "Lindau - Town"},
                {"Description": "", "Rank": 1, "Title": "Empty"},
                {"Description": " \n", "Rank": 1, "Title": " "},
                *({"Description": f"Hit {at}", "Rank": at, "Title": "T"} for at in range(2, 8)),
            ],
        }
    ],
    "Domain": "unfiltered",
    "Split": "dev",
    "Version": 1.0,
}

SELF_RAG_TRIVIAQA: dict[str, Any] = {
    "question": "Which river flows through Lindau?",
    "answers": ["River Aach", "Aach"],
    "ctxs": CTXS,
}

POPQA: dict[str, Any] = {
    "id": 4222362,
    "subj": "Aino Laine",
    "prop": "occupation",
    "obj": "film director",
    "s_pop": 44,
    "o_pop": 25692,
    "question": "What is Aino Laine's occupation?",
    "possible_answers": '["film director", "director"]',
    "answers": ["film director", "director"],
    "ctxs": CTXS,
}

POPQA_TSV = {field: POPQA[field] for field in POPQA if field not in ("answers", "ctxs")}

SELF_RAG_PUBHEALTH: dict[str, Any] = {
    "claim": "Salt cures colds.",
    "label": "REFUTES",
    "question": "Salt cures colds.",
    "answers": ["false"],
    "ctxs": CTXS,
}

PUBHEALTH_TSV = [
    {"claim_id": "1", "claim": "Salt cures colds.", "main_text": "No. " * 50_000, "label": "false"},
    {"claim_id": "2", "claim": "Sleep helps.", "main_text": 'It "helps".', "label": "true"},
    {"claim_id": "3", "claim": "Tea may help.", "main_text": "Maybe.", "label": "mixture"},
    {"claim_id": "4", "claim": "Moss helps.", "main_text": "", "label": "unproven"},
    {"claim_id": "", "claim": "", "main_text": "Moss.", "label": ""},
    {"claim_id": "6", "claim": "Clay helps.", "main_text": "Perhaps.", "label": "snopes"},
    {"claim_id": "7", "claim": "Rain helps.", "main_text": "It does not.", "label": "nan"},
]

SELF_RAG_ARC: dict[str, Any] = {
    "id": "Mercury_1",
    "question": "What do plants take from the air?",
    "choices": {
        "text": ["iron", "carbon dioxide", "salt", "helium"],
        "label": ["1", "2", "3", "4"],
    },
    "answerKey": "2",
}

SHARED_ARC: dict[str, Any] = {
    "id": "arc_hard-1",
    "set": "arc_hard",
    "question": "What do plants take from the air?",
    "choices": ["iron", "carbon dioxide", "salt"],
    "answer": "B",
}

ASQA: dict[str, Any] = {
    "sample_id": "-71",
    "question": "When was the bridge of Halden opened?",
    "qa_pairs": [
        {"context": "..", "question": "old?", "short_answers": ["1898"], "wikipage": None},
        {"context": "..", "question": "new?", "short_answers": ["1974", "in 1974"]},
    ],
    "wikipages": [{"title": "Halden", "url": "https://example.org/"}],
    "annotations": [
        {"knowledge": [{"content": "..", "wikipage": "Halden"}], "long_answer": "1898 and 1974."},
        {"knowledge": [], "long_answer": "The old one in 1898, the new one in 1974."},
    ],
    "docs": CTXS,
    "answer": "1898 and 1974.",
}

OWN_ASQA = {
    "dev": {
        "77": {
            "ambiguous_question": ASQA["question"],
            "qa_pairs": ASQA["qa_pairs"],
            "annotations": ASQA["annotations"],
        }
    },
    "train": {
        "78": {
            "ambiguous_question": "When was the pier of Halden opened?",
            "qa_pairs": ASQA["qa_pairs"][:1],
            "annotations": ASQA["annotations"][:1],
        }
    },
}

ELI5: dict[str, Any] = {
    "question": "Why does bread rise?",
    "question_ctx": "",
    "answer": "Yeast makes gas.",
    "claims": ["Yeast feeds on sugar.", "It gives off gas."],
    "docs": CTXS,
}

STRATEGYQA: dict[str, Any] = {
    "qid": "s1",
    "term": "Aino Laine",
    "question": "Could Aino Laine have seen the opening of Pier House?",
    "answer": True,
    "facts": ["Aino Laine was born in 1921.", "Pier House was opened in 1931."],
    "decomposition": ["When was Aino Laine born?", "When was the house of #1 opened?", "Is #2 on?"],
    "evidence": [
        [[["Aino Laine-3", "Aino Laine-4"]], ["operation"]],
        [
            [["Aino Laine-3", "Jean-Luc-12"]],
            [["Pier House-1"], "no_evidence"],
            ["operation"],
        ],
    ],
}

FEVER: dict[str, Any] = {
    "id": 75397,
    "verifiable": "VERIFIABLE",
    "label": "SUPPORTS",
    "claim": "Aino Laine directed Salt Road.",
    "evidence": [
        [[92206, 104971, "Aino_Laine", 7], [92206, 1, "Salt_Road_-LRB-film-RRB-", 0]],
        [[92206, 104972, "Oulu", 2]],
    ],
}

FEVER_UNKNOWN: dict[str, Any] = {
    "id": 137334,
    "verifiable": "NOT VERIFIABLE",
    "label": "NOT ENOUGH INFO",
    "claim": "Aino Laine liked tea.",
    "evidence": [[[108548, None, None, None]]],
}

PATHQUESTION: dict[str, Any] = {
    "id": "PQ-2H-0",
    "kb": "2H-kb",
    "question": "which nationality is aino_laine 's couple ?",
    "answers": ["united_kingdom"],
    "topic": "aino_laine",
    "path": ["aino_laine", "spouse", "ove_dahl", "nationality", "united_kingdom"],
}

EXPLAGRAPHS: dict[str, Any] = {
    "id": 1,
    "arg1": "Tea should be free.",
    "arg2": "Tea costs little.",
    "label": "support",
    "triples": [["tea", "causes", "joy"]],
}


def tsv(*rows: dict[str, Any]) -> str:
    """Write rows as tab-separated values, as Python's csv would with quotes where needed."""
    lines = [[str(value) for value in row.values()] for row in rows]
    quoted = [[_quoted(value) for value in line] for line in lines]
    return "\n".join("\t".join(line) for line in [list(rows[0]), *quoted]) + "\n"


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if '"' in value else value


def lines(*rows: Any) -> str:
    """Write rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


ROG: dict[str, Any] = {
    "id": "WebQTest-1",
    "question": "what are the moons of jupiter",
    "answer": ["Io", "Europa", "Io"],
    "q_entity": ["Jupiter"],
    "a_entity": ["Io", "Europa"],
    "graph": [["Io", "orbits", "Jupiter"], ["Europa", "orbits", "Jupiter"]],
    "choices": [],
}

SCORED: dict[str, Any] = {
    "question": "what are the moons of jupiter",
    "scored_triples": [("Io", "orbits", "Jupiter", 0.9)],
    "q_entity": ["Jupiter"],
    "q_entity_in_graph": ["Jupiter"],
    "a_entity": ["Io"],
    "a_entity_in_graph": ["Io"],
    "max_path_length": 1,
    "target_relevant_triples": [("Io", "orbits", "Jupiter")],
}

GRAILQA: dict[str, Any] = {
    "qid": 2100263000000,
    "question": "which moons of jupiter are known since 1610?",
    "answer": [
        {"answer_type": "Entity", "answer_argument": "m.03h65", "entity_name": "Io"},
        {"answer_type": "Entity", "answer_argument": "m.0x"},
        {"answer_type": "Value", "answer_argument": "1610"},
    ],
    "level": "zero-shot",
    "graph_query": {
        "nodes": [
            {"nid": 0, "node_type": "class", "id": "astronomy.moon", "question_node": 1},
            {"nid": 1, "node_type": "entity", "id": "m.03h64", "question_node": 0},
        ],
        "edges": [{"start": 0, "end": 1, "relation": "astronomy.moon.orbits"}],
    },
}

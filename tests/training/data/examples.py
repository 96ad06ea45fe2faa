"""Small rows in the formats of published data sets, about people and films that do not exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

QUESTION = "When was the director of film Salt Road born?"

WIKI2: dict[str, Any] = {
    "_id": "w1",
    "type": "compositional",
    "question": QUESTION,
    "answer": "3 May 1921",
    "supporting_facts": [["Salt Road (film)", 0], ["Aino Laine", 0]],
    "evidences": [
        ["Salt Road", "director", "Aino Laine"],
        ["Aino Laine", "date of birth", "3 May 1921"],
    ],
    "context": [
        [
            "Salt Road (film)",
            ["Salt Road is a 1950 drama film.", "It was directed by Aino Laine."],
        ],
        ["Aino Laine", ["Aino Laine (born 3 May 1921) was a Finnish director."]],
        ["Northern Light", ["Northern Light is a 1960 film.", "It was shot in Oulu."]],
        ["Pier House", ["Pier House is an office building in Halden."]],
    ],
}

WIKI2_SHARED: dict[str, Any] = {
    "id": "w2",
    "question": "Which film has the director born first, Salt Road or Northern Light?",
    "answer": "Salt Road",
    "qtype": "bridge_comparison",
    "support": [["Salt Road", 0], ["Northern Light", 0], ["Aino Laine", 0], ["Ove Dahl", 0]],
    "triples": [
        ["Salt Road", "director", "Aino Laine"],
        ["Northern Light", "director", "Ove Dahl"],
        ["Laine", "date of birth", "3 May 1921"],
        ["Ove Dahl", "date of birth", "7 June 1930"],
    ],
    "in_corpus": False,
}

MUSIQUE: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "Who founded the company that distributed Salt Road?",
    "answer": "Ingrid Moe",
    "answer_aliases": [],
    "answerable": True,
    "question_decomposition": [
        {
            "id": 1,
            "question": "Salt Road >> distributed by",
            "answer": "Halden Pictures",
            "paragraph_support_idx": 1,
        },
        {
            "id": 2,
            "question": "who founded #1",
            "answer": "Ingrid Moe",
            "paragraph_support_idx": 2,
        },
    ],
    "paragraphs": [
        {"idx": 0, "title": "Oulu", "paragraph_text": "Oulu is a city.", "is_supporting": False},
        {
            "idx": 1,
            "title": "Salt Road",
            "paragraph_text": "Salt Road is a film. It was distributed by Halden Pictures.",
            "is_supporting": True,
        },
        {
            "idx": 2,
            "title": "Halden Pictures",
            "paragraph_text": "Halden Pictures was founded by Ingrid Moe in 1931.",
            "is_supporting": True,
        },
    ],
}

HOTPOT: dict[str, Any] = {
    "_id": "h1",
    "type": "bridge",
    "level": "easy",
    "question": "Which river flows through the town where Clara Novak was born?",
    "answer": "River Aach",
    "supporting_facts": [["Lindau", 0], ["Clara Novak", 0]],
    "context": [
        ["Lindau", ["Lindau is a town on the River Aach.", " It has a harbour."]],
        ["Clara Novak", ["Clara Novak was a violinist who was born in Lindau."]],
        ["Novak Quartet", ["The Novak Quartet was founded in 1950."]],
        ["Oulu", ["Oulu is a city in Finland."]],
    ],
}

STRATEGY: dict[str, Any] = {
    "qid": "s1",
    "term": "Aino Laine",
    "description": "director",
    "question": "Could Aino Laine have seen the opening of Pier House?",
    "answer": True,
    "facts": ["Aino Laine was born in 1921.", "Pier House was opened in 1931."],
    "decomposition": [
        "When was Aino Laine born?",
        "When was Pier House opened?",
        "Is #2 after #1?",
    ],
}

FEVER: dict[str, Any] = {
    "id": 7,
    "claim": "Aino Laine is a Swedish director.",
    "label": "REFUTES",
    "evidence": ["Aino Laine -LRB- born 1921 -RRB- is a Finnish director ."],
}

ARC: dict[str, Any] = {
    "id": "arc-1",
    "question": {
        "stem": "What do plants take from the air?",
        "choices": [
            {"text": "iron", "label": "1"},
            {"text": "carbon dioxide", "label": "2"},
            {"text": "salt", "label": "3"},
            {"text": "helium", "label": "4"},
        ],
    },
    "answerKey": "2",
}

WEBQSP: dict[str, Any] = {
    "id": "WebQTrn-1",
    "question": "who plays aino in salt road",
    "answers": ["Berta Lind"],
    "triples": [
        ["Salt Road", "film.film.starring", "m.0abc"],
        ["m.0abc", "film.performance.actor", "Berta Lind"],
        ["Salt Road", "film.film.genre", "Drama"],
        ["m.0zzz", "film.film.genre", "m.0yyy"],
    ],
}

QED: dict[str, Any] = {
    "id": 5,
    "question": "who directed the film salt road",
    "title": "Salt Road (film)",
    "paragraph": "Salt Road is a 1950 film . The film Salt Road was directed by Aino Laine .",
    "answers": ["Aino Laine"],
}


def write_lines(path: Path, *rows: Any) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def write_list(path: Path, *rows: Any) -> Path:
    """Write rows as one JSON list."""
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1))
    return path

"""ReAct: thoughts and actions in turn (Yao et al., 2023)."""

from __future__ import annotations

INSTRUCTION = """\
You find the answer to a question in a document collection, step by step. Each of your replies is \
one step of two lines:
Thought: what is known by now, and what is still missing.
Action: Search[a short question or name to look up], or Finish[the answer].
After a search you are shown the passages that were found. Do not repeat a search. Finish as soon \
as you know the answer, and give it as briefly as the question allows: a name, a date, a number, \
yes or no."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which river flows through the town where Clara Novak was born?",
        "Thought: I need to find out where Clara Novak was born.\n"
        "Action: Search[Where was Clara Novak born?]",
    ),
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Thought: I need to find out where Clara Novak was born.\n"
        "Action: Search[Where was Clara Novak born?]\n"
        "Observation:\n"
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.",
        "Thought: She was born in Lindau. Now I need the river that flows through Lindau.\n"
        "Action: Search[Which river flows through Lindau?]",
    ),
    (
        "Question: Who designed the headquarters of Halden Shipping?\n"
        "Thought: I need to find the headquarters of Halden Shipping and its architect.\n"
        "Action: Search[headquarters of Halden Shipping]\n"
        "Observation:\n"
        "[Pier House] Pier House, the seat of Halden Shipping, was designed by Ingrid Moe.",
        "Thought: The headquarters is Pier House, which Ingrid Moe designed.\n"
        "Action: Finish[Ingrid Moe]",
    ),
]

AGAIN = "This step could not be used: {problem} Reply with a Thought and an Action."
"""Put after the transcript when a step is asked for a second time."""

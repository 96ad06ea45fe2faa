"""What is asked of a baseline's model that answers by itself, or from passages that were found."""

from __future__ import annotations

from typing import NamedTuple

Examples = list[tuple[str, str]]


class Prompts(NamedTuple):
    """Instructions and examples for short and for long answers.

    ``task`` is what a model that was trained for short ones names in ``trained_for``.
    """

    task: str
    instruction: str
    examples: Examples
    long_instruction: str
    long_examples: Examples


DIRECT = Prompts(
    task="direct",
    instruction="""\
You answer questions from what you know. Always give your best answer, as briefly as the question \
allows: a name, a date, a number, yes or no, with no explanation.""",
    examples=[
        ("Question: Which ocean lies between Portugal and the United States?", "Atlantic Ocean"),
        ("Question: How many days are there in a week?", "7"),
        ("Question: Is Norway larger than Belgium?", "yes"),
    ],
    long_instruction="""\
You answer questions from what you know. Write the answer in the form that is asked for, and \
nothing else.""",
    long_examples=[
        (
            "Question: Why does bread rise?",
            "Bread dough contains yeast, which is alive and feeds on the sugar in the flour. As it "
            "eats, it gives off a gas, carbon dioxide. The dough is stretchy and holds that gas in "
            "little bubbles, so the loaf swells like a balloon.",
        ),
    ],
)

FROM_PASSAGES = Prompts(
    task="read",
    instruction="""\
You answer a question with the help of passages, each after its title in brackets. Some of them \
may not be to the point: use what helps and ignore the rest. Always give your best answer, even \
where the passages do not hold it, as briefly as the question allows: a name, a date, a number, \
yes or no, with no explanation.""",
    examples=[
        (
            "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in "
            "Vienna.\n"
            "[Lindau] Lindau is a town in Germany on the River Aach.\n"
            "[Aach Valley] The Aach Valley is known for its orchards.\n"
            "Question: Which river flows through the town where Clara Novak was born?",
            "River Aach",
        ),
        (
            "[Northern Light] Northern Light is a film by the Finnish director Aino Laine.\n"
            "[Salt Road] Salt Road is a film of 1987. It was directed by Per Holm of Denmark.\n"
            "Question: Are the directors of Northern Light and Salt Road from the same country?",
            "no",
        ),
    ],
    long_instruction="""\
You answer a question with the help of passages, each after its title in brackets. Some of them \
may not be to the point: use what helps and ignore the rest. Write the answer in the form that is \
asked for, and nothing else.""",
    long_examples=[
        (
            "[Halden New Bridge] The New Bridge of Halden was opened in 1974 and replaced the Old "
            "Bridge.\n"
            "[Halden Old Bridge] The Old Bridge of Halden was opened in 1898.\n"
            "Question: When was the bridge of Halden opened?",
            "Halden has had two bridges. The Old Bridge was opened in 1898. The New Bridge, which "
            "replaced it, was opened in 1974.",
        ),
    ],
)

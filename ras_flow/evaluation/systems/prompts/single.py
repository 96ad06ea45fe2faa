"""Answers from passages that one search found."""

from __future__ import annotations

INSTRUCTION = """\
You answer a question with the help of passages, each after its title in brackets. Some of them \
may not be to the point: use what helps and ignore the rest. Always give your best answer, even \
where the passages do not hold it, as briefly as the question allows: a name, a date, a number, \
yes or no, with no explanation."""

LONG_FORM_INSTRUCTION = """\
You answer a question with the help of passages, each after its title in brackets. Some of them \
may not be to the point: use what helps and ignore the rest. Write the answer in the form that is \
asked for, and nothing else."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.\n"
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
]

LONG_FORM_EXAMPLES: list[tuple[str, str]] = [
    (
        "[Halden New Bridge] The New Bridge of Halden was opened in 1974 and replaced the Old "
        "Bridge.\n"
        "[Halden Old Bridge] The Old Bridge of Halden was opened in 1898.\n"
        "Question: When was the bridge of Halden opened?",
        "Halden has had two bridges. The Old Bridge was opened in 1898. The New Bridge, which "
        "replaced it, was opened in 1974.",
    ),
]

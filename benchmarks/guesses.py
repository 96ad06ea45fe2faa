"""What guessing the next tokens from the prompt saves a local model, at the same output.

    OMP_NUM_THREADS=1 python benchmarks/guesses.py [--passages 1,5,16] [--tokens 256] [--rounds 2]

The package's own extractor reads passages of the demo corpus at once, with guesses
(`ras_flow.llms.local.text`) and without, in turn, within one process. Read the ratio, by CPU
time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
from time import process_time

from ras_flow.demo import passages
from ras_flow.llms.local import decoding
from ras_flow.llms.local.model import LocalLanguageModel, load_model
from ras_flow.llms.local.tuned import SHIPPED, find_tuned
from ras_flow.llms.local.weights import fingerprint
from ras_flow.parts import Generation
from ras_flow.parts.prompted.forms import trained_form
from ras_flow.parts.prompted.prompting import ask
from ras_flow.prompts.extractor import source


def main(counts: list[int], tokens: int, rounds: int) -> None:
    """Print a table, a row as soon as it is known."""
    tuned = find_tuned(str(SHIPPED))
    assert tuned is not None
    form, model = trained_form(tuned.instruction()), LocalLanguageModel(str(SHIPPED))
    texts = [source(document["title"], document["text"]) for document in passages()]
    readings = 0

    def count(*_: object) -> None:
        nonlocal readings
        readings += 1

    def write(prompts: int, most: int) -> tuple[list[Generation], float, int]:
        nonlocal readings
        decoding.LONGEST_GUESS, readings, began = most, 0, process_time()
        # Every tenth: neighbours tell of the same things.
        asked = [ask(form.prefix, text) for text in texts[: 10 * prompts : 10]]
        made = asyncio.run(model.generate(asked, max_new_tokens=tokens))
        return made, process_time() - began, readings

    usual = decoding.LONGEST_GUESS
    write(1, usual)  # Loads the model and reads the prompt's start.
    load_model(str(SHIPPED), fingerprint(str(SHIPPED))).model.register_forward_pre_hook(count)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print(
        "| passages at once | CPU seconds without | with | ratio | readings without | with "
        "| same output |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for prompts in counts:
        pairs = [(write(prompts, 0), write(prompts, usual)) for _ in range(rounds)]
        without, guessed = (min(pair[side][1] for pair in pairs) for side in (0, 1))
        (plain, _, slow), (made, _, quick) = pairs[0]
        same = sum(one.text == other.text for one, other in zip(plain, made, strict=True))
        print(
            f"| {prompts} | {without:.1f} | {guessed:.1f} | {without / guessed:.2f} | {slow} "
            f"| {quick} | {same} of {prompts} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", default="1,5,16")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    main([int(count) for count in given.passages.split(",")], given.tokens, given.rounds)

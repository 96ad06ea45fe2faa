"""Language models in this process: ``LocalLanguageModel(name).generate(prompts, …)``.

The weights are those of transformers; the loop that decodes them is our own, since it takes less
than half of the time for equal outputs (``benchmarks/guesses.py``). It joins the calls of
concurrent runs, shares the keys and values of their common beginning, and checks guesses for all
texts of a batch at once.
"""

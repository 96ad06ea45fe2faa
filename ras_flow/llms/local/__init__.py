"""Language models in this process: ``LocalLanguageModel(name).generate(prompts, …)``.

The weights are those of transformers; the loop that decodes them is our own, since it is faster for
equal outputs. It joins the calls of concurrent runs, shares the keys and values of their common
beginning, and checks guesses for all texts of a batch at once. Measured with the shipped extractor
on one core, in seconds of processor time (transformers 5.23): a passage of 242 new tokens takes 8.8
here, 10.3 by transformers' prompt lookup, which takes one text at a time, and 21.3 by its
``generate``; eight passages take 15 ms a token here and 41 by its ``generate_batch``. See also
``benchmarks/guesses.py`` and ``benchmarks/results/extraction.md``.
"""

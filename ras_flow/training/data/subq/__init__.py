"""HotpotQA-SUBQ: training data made with language models (appendix C, algorithm 1)."""

"""Training data of the Graph LLM: the record format, data sets on disk, and HotpotQA-SUBQ."""

"""Training of the extractor and of the Graph LLM: data, and the runs that learn from it."""

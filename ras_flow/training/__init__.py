"""Training of Graph LLM, extractor, hop reader and fact retrievers, and the data for it."""

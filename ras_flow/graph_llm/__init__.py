"""The Graph LLM: the attributed graph, its encoder, and the language model that reads both."""

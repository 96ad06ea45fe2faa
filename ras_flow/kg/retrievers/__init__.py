"""Retrievers of facts: which triples of a subgraph a question is about."""

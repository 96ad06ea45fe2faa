"""Triples kept by passage and extractor, and a corpus read before anyone asks."""

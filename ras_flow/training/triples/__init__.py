"""Training of the extractor f_t2t: texts with triples in, a folder with weights out (§3.2, D.1)."""

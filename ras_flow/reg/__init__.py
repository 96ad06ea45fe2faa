"""ReG: answers over a knowledge graph that exists (arXiv 2506.22518)."""

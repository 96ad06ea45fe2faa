"""T²RAG (arXiv 2508.02435) as a second graph: clues with open slots, filled round by round."""

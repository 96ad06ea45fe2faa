"""T²RAG's own nodes, one file each."""

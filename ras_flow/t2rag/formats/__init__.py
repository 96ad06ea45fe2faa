"""What T²RAG's models read and write, and the parsers of it."""

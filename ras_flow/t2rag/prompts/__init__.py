"""What T²RAG's models are told."""

"""What T²RAG's models learn, decompose and resolve, from questions with evidence."""

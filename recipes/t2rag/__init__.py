"""From published questions with evidence to what T²RAG's two models learn: decompose and resolve."""

"""Access on a LangGraph server: each user sees only their own runs."""

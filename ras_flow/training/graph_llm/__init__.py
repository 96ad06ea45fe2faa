"""Training of the Graph LLM on plans and answers, and its measures."""

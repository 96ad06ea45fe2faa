"""Training data of the Graph LLM from published data sets, simulated and played."""

"""Training of the Graph LLM: data, and the runs that learn from it (paper §3.4, appendix C)."""

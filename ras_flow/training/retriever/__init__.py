"""Training of fact retrievers: candidate paths, refined labels, and three kinds of model."""

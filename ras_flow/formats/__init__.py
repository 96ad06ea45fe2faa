"""Text forms shared by training and inference: plan labels, triples, history, names."""

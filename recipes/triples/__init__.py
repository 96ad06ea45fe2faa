"""Training data of the extractor: cleaned, completed, and its rules measured."""

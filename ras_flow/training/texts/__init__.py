"""Text-to-text training: what is asked and what to write in, a folder with weights out."""

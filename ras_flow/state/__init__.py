"""The state of a run: records, channels, reducers, and the question's graph."""

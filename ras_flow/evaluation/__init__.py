"""Systems side by side on the same questions: benchmarks, baselines, metrics and reports."""

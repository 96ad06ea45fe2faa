"""What a run may be given: its settings, task presets, and the limits of a deployment."""

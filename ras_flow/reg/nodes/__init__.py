"""ReG's own nodes."""

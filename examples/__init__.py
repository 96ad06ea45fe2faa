"""Small programs that use ras_flow."""

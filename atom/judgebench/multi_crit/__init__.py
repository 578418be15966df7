"""Multi-Crit."""

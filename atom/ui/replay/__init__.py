"""Live replay."""

"""Rival ways to rank answers with the same judge, and ATOM's own with its parts taken away."""

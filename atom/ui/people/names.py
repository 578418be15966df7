"""Whose labels, flags and tags are: a name that the reader gives once a session."""

WHO = "human_named"
"""Where the session keeps it."""

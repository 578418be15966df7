"""The commands: noun, then verb; one file a noun."""

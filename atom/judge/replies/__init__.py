"""What a model sent back, read: its envelope, its object, its values."""

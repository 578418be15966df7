"""What people say, written to the store."""

"""What a server is, takes and costs."""

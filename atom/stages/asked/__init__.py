"""What a judge is asked about a question in words."""

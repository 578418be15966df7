"""What a study that is judged in looks may say before it is judged whole."""

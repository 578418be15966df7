"""What a study's judges are worth together."""

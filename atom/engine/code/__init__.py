"""Programs of strangers, run in a sandbox."""

"""What commands say of a result: the lines of the terminal, and what `--json` writes."""

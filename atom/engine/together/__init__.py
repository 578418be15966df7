"""Several processes at one run: how they share calls and money."""

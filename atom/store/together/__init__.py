"""Many processes on one store: what they write side by side, and how they wait for each other."""

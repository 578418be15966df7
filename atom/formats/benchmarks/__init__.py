"""Files of published benchmarks."""

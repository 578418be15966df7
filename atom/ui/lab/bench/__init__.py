"""The Judge lab's tabs of benchmarks."""

"""The judge benchmarks on probes: files in a benchmark's layout, and judges that answer."""

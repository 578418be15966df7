"""The four judge benchmarks: what each measures, computed from verdicts however they were made."""

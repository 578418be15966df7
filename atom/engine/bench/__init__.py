"""Judges tested: benchmarks, calibration, fidelity, rankings."""

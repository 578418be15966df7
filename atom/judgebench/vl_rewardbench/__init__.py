"""VL-RewardBench."""

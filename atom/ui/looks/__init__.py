"""*Settle this*: judging in looks, on Overview, Fingerprints and Runs."""

"""Hard pairs of a study: found by weak judges, confirmed, and made into a set."""

"""Commands that look at a study, as the Explore screens do."""

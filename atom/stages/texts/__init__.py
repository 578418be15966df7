"""Reading texts: final answers, options, quantities, quotes, and what gives a result away."""

"""Commands about a deployment: people, budgets, the log."""

"""A deployment's people: roles, budgets, who did what."""

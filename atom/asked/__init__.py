"""Questions in words about a study, and the view that they ask for."""

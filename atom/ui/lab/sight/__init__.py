"""Whether a judge looks at the picture: the tab of the Judge lab."""

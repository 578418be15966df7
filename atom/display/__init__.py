"""How values read: the same on screens, in a terminal, in reports and in figures."""

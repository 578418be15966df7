"""Growing the capability tree, and mapping criteria to its leaves."""

"""Files of evaluation tools."""

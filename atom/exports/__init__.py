"""Studies as files for others: an exact archive, tables, other tools' forms, one HTML page."""

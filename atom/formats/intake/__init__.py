"""What comes of an import: records, counted, each once."""

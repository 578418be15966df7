"""Work that several commands begin: what they ask of it, and how it is carried out."""

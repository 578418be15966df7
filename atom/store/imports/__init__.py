"""What an import changes in the store beside its own rows, and how it is taken back."""

"""What a model can do, and whether the tree that says so is sound."""

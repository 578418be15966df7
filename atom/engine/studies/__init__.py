"""A study as a whole: copied to be changed, named, its models as versions, marked again."""

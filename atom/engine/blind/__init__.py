"""The blind control: the same questions put to the same models without their pictures."""

"""The probe world: pictures whose truth is exact because a program drew them."""

"""Plans and carries out a study in looks: the next answers to mark, and when to stop."""

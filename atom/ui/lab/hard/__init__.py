"""The Judge lab's screen of hard pairs."""

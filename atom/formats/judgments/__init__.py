"""Marks on criteria by models, people and programs, from files of any shape and on any scale."""

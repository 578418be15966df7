"""How a study is read: its rows as columns, who wrote and judged what, texts to be searched."""

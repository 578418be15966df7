"""How a study is read for screens: texts to be searched."""

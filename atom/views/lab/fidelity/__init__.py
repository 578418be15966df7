"""How well each method's scores rank a study's answers as people do, and at what cost."""

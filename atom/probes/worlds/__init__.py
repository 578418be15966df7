"""The drawn worlds: pictures with their exact programs, by family."""

from atom.probes.worlds.make import FAMILIES, TEMPLATES, ProbeSample, make_probe, make_probes

__all__ = ["FAMILIES", "TEMPLATES", "ProbeSample", "make_probe", "make_probes"]

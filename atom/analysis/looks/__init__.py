"""Judging in looks of growing size, with statements that may be looked at early."""

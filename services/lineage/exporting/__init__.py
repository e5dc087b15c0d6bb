"""Writes a run as a directory that stands by itself."""

"""Checks a run with nothing but its export: hashes, chain, signature, every decision again.

Imports `schemas`, the pure cores of the services and the standard library; no kernel runs.
"""

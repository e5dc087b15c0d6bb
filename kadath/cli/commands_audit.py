"""Audit: verify, replay, rules, parked."""

from kadath.cli.app import app

__all__ = ["app"]

"""Sandboxes without a daemon: user namespaces, bubblewrap, seccomp, cgroups where they are."""

from services.sandbox.local.backend import LocalContainers
from services.sandbox.local.request import InvalidSpec

__all__ = ["InvalidSpec", "LocalContainers"]

"""Sandboxes as containers of a Docker daemon: one throw-away container an attempt."""

from services.sandbox.docker.backend import DockerContainers

__all__ = ["DockerContainers"]

"""One profile: the same examples on every machine, no deadline a busy machine could miss."""

from hypothesis import settings

settings.register_profile("kadath", max_examples=100, deadline=None, derandomize=True)
settings.load_profile("kadath")

"""Trouble that kit knows by name. `retryable` tells a caller whether waiting can help."""


class KitError(Exception):
    retryable = False


class Conflict(KitError):
    """Somebody else wrote the entity first: read again and decide again."""

    retryable = True


class PermissionDenied(KitError):
    """The server refused the subject for this user."""


class Unavailable(KitError):
    """The server did not answer; whether the write landed is unknown."""

    retryable = True


class LogFull(KitError):
    """The stream has reached its size limit and refuses, rather than forgets."""

    retryable = True


class TooLarge(KitError):
    """An event above 64 KiB: its content belongs into a blob."""


class SecretLeak(KitError):
    """An event held the value of a known secret; it was not written."""

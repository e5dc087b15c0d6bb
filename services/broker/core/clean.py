"""Text from models and organisms, made fit to keep: valid Unicode, no NUL, bounded."""


def clean(text: str, limit: int) -> str:
    """At most `limit` characters; lone surrogates become U+FFFD."""
    text = text[:limit].replace("\x00", "")
    return repaired(text) if broken(text) else text


def broken(text: str) -> bool:
    """Does the text hold a surrogate that UTF-8 cannot carry?"""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def repaired(text: str) -> str:
    """Surrogate pairs joined, lone surrogates replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

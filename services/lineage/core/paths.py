"""Which paths a genome may hold: what every machine can write, and git never takes for its own."""

import unicodedata

MAX_COMPONENT_BYTES = 255
MAX_PATH_BYTES = 1024

# Code points that HFS+ ignores when it compares names: `.g<ZWJ>it` opens `.git` there.
IGNORABLE = frozenset(
    chr(code)
    for code in (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)


def violation(path: str) -> str | None:
    """Why `path` may not be part of a genome, or None."""
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "holds a lone surrogate"
    if not path:
        return "is empty"
    if len(encoded) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    if path.startswith("/"):
        return "is absolute"
    return _characters(path) or next(filter(None, map(_component, path.split("/"))), None)


def _characters(path: str) -> str | None:
    if "\0" in path:
        return "holds a NUL byte"
    if "\\" in path or any(unicodedata.category(character) == "Cc" for character in path):
        return "holds a backslash or a control character"
    if unicodedata.normalize("NFC", path) != path:
        return "is not in Unicode form NFC"
    return None


def _component(name: str) -> str | None:
    if name in ("", "."):
        return "holds an empty part"
    if name == "..":
        return "leaves the repository"
    if len(name.encode()) > MAX_COMPONENT_BYTES:
        return f"has a part longer than {MAX_COMPONENT_BYTES} bytes"
    if is_dotgit(name):
        return "names a git folder"
    return None


def is_dotgit(name: str) -> bool:
    """`.git` as any file system may read it: case, width, ignorables, NTFS tails and short name."""
    visible = "".join(character for character in name if character not in IGNORABLE)
    folded = unicodedata.normalize("NFKC", visible).casefold()
    folded = "".join(character for character in folded if character not in IGNORABLE)
    return folded.partition(":")[0].rstrip(". ") in (".git", "git~1")

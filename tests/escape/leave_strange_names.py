"""Leave names with newlines, escapes and bytes that are no text.

Held by: names are checked before they become evidence
"""

for name in (b"a\nb", b"\x1b[2J", b"\xff\xfe", b"..\\x", "\u202etxt.exe".encode()):
    with open(b"/state/" + name, "wb") as file:
        file.write(b"x")
print("held: five strange names were left, see what was rejected")

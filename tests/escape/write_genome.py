"""Change the genome that everybody shares.

Held by: a read-only mount
"""

open("/genome/organism.py", "a").write("# mine\n")
print("ESCAPED: the genome was written")

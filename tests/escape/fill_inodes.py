"""Make files without end.

Held by: a quota on files
Limit: state files
"""

for number in range(100_000):
    open(f"/state/{number}", "w").close()
print("unbounded: 100,000 files")

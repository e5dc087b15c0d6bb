"""Use any capability at all.

Held by: none is left to gain
Limit: capabilities
"""

status = dict(line.split(":", 1) for line in open("/proc/self/status"))
left = [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
print(f"held: {left[0]}" if set(left) == {"0" * 16} else f"ESCAPED: {left}")

"""The trusted outer process of an attempt: Debian's Python, standard library only.

Imports are counted in milliseconds of CPU here: no `json`, `re`, `signal`, `subprocess`, `socket`.
The kernel never imports this package at run time except for `wire` and `labels`.
"""

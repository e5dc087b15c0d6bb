"""The kernel's first process inside a sandbox."""

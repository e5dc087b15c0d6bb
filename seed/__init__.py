"""The first genome (`framework/`) and the kernel-side code that prepares it for a sandbox."""

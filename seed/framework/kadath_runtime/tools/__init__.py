"""The organism's tools, one module a subject; a tool is a documented method."""

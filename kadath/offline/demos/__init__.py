"""The built-in demos: goals that the offline model can really work on."""

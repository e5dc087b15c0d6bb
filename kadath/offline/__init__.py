"""The built-in offline model: a search engine behind an OpenAI-compatible server.

It is no language model. It plays every role of a run on the built-in demos only.
"""

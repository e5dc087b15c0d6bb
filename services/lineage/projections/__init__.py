"""The read models of lineage: rows out of events, and nothing that decides."""

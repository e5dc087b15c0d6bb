"""The search itself: programs as syntax trees, and the edits that measured facts suggest."""

"""Demo: a network of few comparators that sorts ten values."""

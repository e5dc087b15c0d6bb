"""What a person sees: tables, the curve in the terminal and as a PNG."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

console = Console()
errors = Console(stderr=True)


class EpochRow(NamedTuple):
    """Scores of one epoch's leaderboard. `median` and `worst` are those of its top half."""

    epoch: int
    best: Decimal
    median: Decimal
    worst: Decimal
    successes: int
    failures: int


def summarise(epoch: int, scores: Sequence[Decimal], successes: int, failures: int) -> EpochRow:
    """`scores` in rank order; the lower median of the top half is a score that exists."""
    half = scores[: max(1, (len(scores) + 1) // 2)]
    return EpochRow(epoch, half[0], half[(len(half) - 1) // 2], half[-1], successes, failures)


def epochs_table(rows: Sequence[EpochRow], title: str = "") -> Table:
    table = Table(title=title or None)
    for name in ("epoch", "best", "median of top half", "worst of top half", "succeeded"):
        table.add_column(name, justify="right")
    for row in rows:
        succeeded = f"{row.successes} of {row.successes + row.failures}"
        scores = (str(score) for score in (row.best, row.median, row.worst))
        table.add_row(str(row.epoch), *scores, succeeded)
    return table


def listing(rows: Sequence[Mapping[str, object]], columns: Sequence[str], title: str = "") -> Table:
    """Chosen columns of what a query answered; a genome is shown by its first 12 digits."""
    table = Table(title=title or None, box=box.SIMPLE)
    for name in columns:
        table.add_column(name.replace("_", " "), no_wrap=name not in ("detail", "name"))
    for row in rows:
        table.add_row(*(_cell(name, row.get(name)) for name in columns))
    return table


def facts(found: Mapping[str, object], names: Sequence[str]) -> Table:
    """One thing, a line a fact; what is not set is left out."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for name in names:
        if found.get(name) not in (None, ""):
            table.add_row(name.replace("_", " "), _cell(name, found[name]))
    return table


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    text = str(value)
    return plain(text[:12] if "genome" in name or name == "previous" else text, 120)


def terminal_curve(curves: dict[str, Sequence[float]], width: int = 72, height: int = 16) -> str:
    """A plot of best score by epoch, drawn with characters."""
    import plotext

    plotext.clear_figure()
    plotext.plotsize(width, height)
    plotext.theme("clear")
    for name, values in curves.items():
        plotext.plot(list(range(1, len(values) + 1)), list(values), label=name, marker="braille")
    plotext.xlabel("epoch")
    return str(plotext.build())


def png_curve(
    path: Path, curves: dict[str, Sequence[float]], target: float | None, ylabel: str
) -> Path:
    """The same curve as a PNG file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), dpi=120)
    for name, values in curves.items():
        axes.plot(range(1, len(values) + 1), values, marker="o", label=name)
    if target is not None:
        axes.axhline(target, linestyle="--", color="grey", label="published best")
    axes.set_xlabel("epoch")
    axes.set_ylabel(ylabel)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
    return path


def plain(text: object, limit: int = 200) -> str:
    """Text of a stranger for a terminal: no control characters, no markup, bounded."""
    cleaned = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return cleaned[:limit].replace("[", "\\[")

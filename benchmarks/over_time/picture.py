"""The nights as one picture that reads on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # the backend is chosen first: no screen is needed

from benchmarks.over_time.night import Night

GREY, BLUE, ORANGE, GREEN = "#8b8f98", "#4c8bf5", "#e8963a", "#3fa66b"


def draw(nights: Sequence[Night], file: Path) -> None:
    """Write three charts side by side into `file`: pages, what was done, and how long it took."""
    with pyplot.rc_context(
        {
            "axes.edgecolor": GREY,
            "axes.labelcolor": GREY,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlecolor": GREY,
            "axes.titlesize": 10,
            "font.size": 8,
            "legend.frameon": False,
            "legend.labelcolor": GREY,
            "svg.fonttype": "none",
            "svg.hashsalt": "over time",
            "xtick.color": GREY,
            "ytick.color": GREY,
        }
    ):
        figure, (pages, done, seconds) = pyplot.subplots(1, 3, figsize=(11, 2.8), layout="constrained")
        at = range(1, len(nights) + 1)
        pages.stackplot(
            at,
            [night.pages for night in nights],
            [night.in_archive for night in nights],
            labels=("pages", "archived"),
            colors=(BLUE, GREY),
            alpha=0.75,
        )
        pages.set_title("the wiki")
        pages.legend(loc="upper left")
        created, updated = [night.created for night in nights], [night.updated for night in nights]
        done.bar(at, created, color=BLUE, label="created")
        done.bar(at, updated, bottom=created, color=ORANGE, label="updated")
        done.set_title("pages a night")
        done.legend(loc="upper left", ncols=2)
        done.set_ylim(0, 1.25 * max(night.created + night.updated for night in nights))
        done.yaxis.get_major_locator().set_params(integer=True)
        seconds.bar(at, [night.seconds for night in nights], color=GREEN)
        seconds.set_title("seconds a night")
        for chart in (pages, done, seconds):
            chart.set_xlabel("night")
        figure.savefig(file, transparent=True, metadata={"Date": None})
        pyplot.close(figure)

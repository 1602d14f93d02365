"""Opens ten pages of the built site in a browser: no serious fault of axe-core, and nothing wider than a telephone.

Without a browser it says so and passes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from report.browser.chrome import Browser, find_programs, open_browser

PAGES = (
    *("index", "start", "which_estimator", "ten_minutes_python", "command_line", "uncertainty", "theory/combining"),
    *(
        "gallery/index",
        "gallery/deciding/plot_1_second_reading",
        "reference/generated/hedgerow.CautiousForestClassifier",
    ),
)


def faults(browser: Browser, site: Path) -> Iterator[str]:
    """Yield what is wrong with the pages, wide and narrow, light and dark."""
    for name in PAGES:
        for width, dark in ((1600, False), (1600, True), (400, False), (400, True)):
            browser.open(site / f"{name}.html", width=width, dark=dark)
            where = f"{name}, {width} px, {'dark' if dark else 'light'}"
            for fault in browser.faults():
                yield f"{where}: {fault}"
            if browser.is_wider_than_window():
                yield f"{where}: wider than the window"


def main(site: Path) -> int:
    """Print every fault; the exit status says whether there was one."""
    programs = find_programs()
    if programs is None:
        print("site: no chromium with chromedriver here: pages are not opened")
        return 0
    with open_browser(*programs) as browser:
        found = list(faults(browser, site))
    print("\n".join(found), file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

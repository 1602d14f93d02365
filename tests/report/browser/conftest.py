from __future__ import annotations

from collections.abc import Iterator

import pytest

from report.browser.chrome import Browser, find_programs, open_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser for all tests of this worker."""
    programs = find_programs()
    if programs is None:
        pytest.skip("there is no chromium with chromedriver, and no way to install them here")
    with open_browser(*programs) as found:
        yield found

"""For all tests of pictures: no window is opened, and matplotlib can be hidden."""

import sys

import pytest
from matplotlib import pyplot as plt

plt.switch_backend("agg")


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)

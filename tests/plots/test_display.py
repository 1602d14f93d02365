"""What all Displays have in common."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

import numpy as np
import pytest
from matplotlib import pyplot as plt

from hedgerow import plots
from hedgerow.plots.display import Display

FAMILIES = [getattr(plots, name) for name in plots.__all__]


@dataclass(kw_only=True, eq=False, repr=False)
class HistogramDisplay(Display):
    """A Display as somebody would add one."""

    values: Any
    note: str | None = None

    def plot(self, ax: Any = None, *, line_kw: dict[str, Any] | None = None) -> Self:
        counts, edges = np.histogram(self.values, bins=4)
        self._axes(ax, figsize=(3, 2), layout="constrained")
        self.line_ = self._line(edges[1:], counts, line_kw, color="red", linewidth=2.0)
        self._write_note(self.note)
        return self

    @classmethod
    def from_values(cls, values: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        cls._pyplot("from_values")
        return cls(values=values).plot(ax, **kwargs)


def test_a_display_is_its_numbers_and_a_plot() -> None:
    display = HistogramDisplay.from_values(np.arange(8.0), line_kw={"lw": 5})
    assert (display.line_.get_color(), display.line_.get_linewidth()) == ("red", 5)
    assert display.line_ in display.ax_.lines
    assert display.figure_ is display.ax_.figure
    assert not display.ax_.texts
    figure, ax = plt.subplots()
    assert HistogramDisplay(values=[1.0], note="one value").plot(ax).figure_ is figure
    assert [text.get_text() for text in ax.texts] == ["one value"]


@pytest.mark.usefixtures("no_matplotlib")
def test_without_matplotlib_it_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"Display.from_values needs matplotlib: pip install 'hedgerow\[plot\]'"):
        HistogramDisplay.from_values([1.0])
    with pytest.raises(ImportError, match=r"HistogramDisplay.plot needs matplotlib"):
        HistogramDisplay(values=[1.0]).plot()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_display_follows_the_conventions(family: Any) -> None:
    assert issubclass(family, Display)
    assert family.__name__.endswith("Display")
    numbers = list(inspect.signature(family).parameters.values())
    assert {parameter.kind for parameter in numbers} == {inspect.Parameter.KEYWORD_ONLY}
    assert [parameter.name for parameter in numbers] == [field.name for field in fields(family)]
    assert all(field.default is None or field.default is MISSING or field.default for field in fields(family))
    self, ax, *settings = inspect.signature(family.plot).parameters.values()
    assert (self.name, ax.name, ax.default) == ("self", "ax", None)
    assert {setting.kind for setting in settings} <= {inspect.Parameter.KEYWORD_ONLY}
    assert all(setting.default is None for setting in settings if setting.name.endswith("_kw"))
    makers = [name for name in vars(family) if name.startswith("from_")]
    assert makers
    for maker in makers:
        assert inspect.signature(getattr(family, maker)).parameters["ax"].default is None


@pytest.mark.parametrize("family", FAMILIES)
def test_displays_are_equal_only_to_themselves(family: Any) -> None:
    first, second = (family(**{field.name: None for field in fields(family)}) for _ in range(2))
    assert first == first
    assert first != second, "arrays have no single truth value to compare by"
    assert len({first, second}) == 2

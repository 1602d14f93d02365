"""Chromium without a screen, for local files: what it shows and complains of, network requests, and axe-core."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome as Driver
from selenium.webdriver import ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    *("--disable-extensions", "--disable-features=Translate,OptimizationHints,MediaRouter"),
)
_PATIENCE = 30  # seconds until a page must be there
_INSTALL = Path(__file__).parents[3] / ".ci" / "browser.sh"
_LOCAL = ("file:", "data:", "blob:", "about:", "chrome:", "devtools:")


def find_programs() -> tuple[str, str] | None:
    """Chromium and its driver, installed once by ``.ci/browser.sh`` where that can be done; None: there are none."""
    if _programs() is None and _INSTALL.exists():
        with open(Path(tempfile.gettempdir()) / "hedgerow-browser.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # one of the workers installs, the others wait
            subprocess.run(["bash", str(_INSTALL)], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return _programs()


def _programs() -> tuple[str, str] | None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Browser:
    """One browser, for many pages."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    def open(self, page: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of this size, with the person's preference for dark or light."""
        self.resize(width, height)
        self.prefer(dark=dark)
        self.driver.get("about:blank")
        self._log("browser"), self._log("performance")  # of earlier pages
        self.driver.get(page.resolve().as_uri())
        arrived = "return document.readyState === 'complete' && location.protocol === 'file:'"
        WebDriverWait(self.driver, _PATIENCE).until(lambda _: self.run(arrived))  # a busy machine's driver may be early

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, *, dark: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def run(self, script: str, *arguments: Any) -> Any:
        """Result of JavaScript; ``arguments[0]`` and so on are those given."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def complaints(self) -> list[str]:
        """Warnings and errors of the console since the page was opened, refused scripts and styles among them."""
        return [entry["message"] for entry in self._log("browser") if entry["level"] in ("WARNING", "SEVERE")]

    def network_requests(self) -> list[str]:
        """Addresses outside this machine that the page asked for."""
        messages = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        asked = (one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent")
        return [url for url in asked if not url.startswith(_LOCAL)]

    def faults(self, impacts: tuple[str, ...] = ("serious", "critical"), *, within: str = "html") -> list[str]:
        """Faults that axe-core finds in a part of the page, one line each."""
        if not self.run("return typeof axe === 'object'"):
            self.run((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[1];"
            "axe.run(arguments[0]).then((found) => done(found.violations), (error) => done(String(error)))",
            within,
        )
        assert isinstance(found, list), found
        return [
            f"{one['impact']}: {one['help']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
            for one in found
            if one["impact"] in impacts
            for node in one["nodes"]
        ]

    def is_wider_than_window(self) -> bool:
        """Whether one must scroll sideways to see all of the page."""
        return bool(self.run("return document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page, as a PNG."""
        if whole:
            height = self.run("return document.documentElement.scrollHeight")
            self.resize(int(self.run("return window.innerWidth")), min(int(height), 16_000))
        self.driver.save_screenshot(str(path))

    def _log(self, kind: str) -> list[Mapping[str, Any]]:
        return list(self.driver.get_log(kind))


@contextmanager
def open_browser(browser: str, driver: str) -> Iterator[Browser]:
    """Start a browser with a fresh profile; it ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ChromeOptions()
        options.binary_location = browser
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        started = Driver(options=options, service=Service(executable_path=driver))
        try:
            started.set_script_timeout(60)
            yield Browser(started)
        finally:
            started.quit()

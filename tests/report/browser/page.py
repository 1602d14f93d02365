"""A small page around the section "What if", with the strictest policy."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

_ASSETS = files("hedgerow.report") / "assets"


def asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def as_json(data: Any) -> str:
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def raw_rows(X: pd.DataFrame) -> list[list[Any]]:
    """Values as the page has them; None is missing."""
    plain = X.astype(object).where(X.notna(), None)
    return [[value.item() if hasattr(value, "item") else value for value in row] for row in plain.to_numpy().tolist()]


def write_page(
    path: Path, data: Any, rows: list[list[Any]], scripts: tuple[str, ...] = ("walker.js", "whatif.js")
) -> Path:
    """Write a page with these scripts and nothing else that could run."""
    code = [asset(name) for name in scripts]
    style = asset("whatif.css") if "whatif.js" in scripts else ""
    allowed = " ".join(map(_hash, code))
    policy = f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    path.write_text(
        f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>What if</title>
<style>{style}</style>
<main>
<h1>Report</h1>
<section id="whatif" aria-labelledby="whatif-title">
<h2 id="whatif-title">What if</h2>
<div id="whatif-root"></div>
<noscript><p>This part needs JavaScript.</p></noscript>
</section>
</main>
<script type="application/json" id="report-data">{as_json({"rows": [{"values": values} for values in rows]})}</script>
<script type="application/json" id="whatif-data">{as_json(data)}</script>
{"".join(f"<script>{text}</script>" for text in code)}
</html>
""",
        encoding="utf-8",
    )
    return path


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

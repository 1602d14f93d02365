"""Datasets from OpenML (or a server with the same addresses), checked and kept."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlparse
from urllib.request import Request, urlopen

from hedgerow.datasets.cache import Origin, cache_folder, cached, cached_table, keep
from hedgerow.datasets.files import open_rows
from hedgerow.datasets.named import Dataset
from hedgerow.datasets.rows import DataFileError, Reading

__all__ = ["SERVER", "fetch_openml"]

SERVER = "https://www.openml.org"

_SECONDS = 60
_CHUNK = 1 << 20


def fetch_openml(
    name: str | int,
    *,
    version: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
    server: str | None = None,
) -> Dataset:
    """A dataset by its name or number: from the cache, else from the server, whose checksum is compared.

    Parameters
    ----------
    name : str or int
        Name of the dataset on openml.org, or the number of one of its versions.
    version : int or None, default=None
        Version; None is the lowest that is active.
    data_home : path or None, default=None
        Folder of downloaded datasets; None: HEDGEROW_CACHE, or ``hedgerow`` in the user's folder of caches.
    server : str or None, default=None
        Address of the server: by default HEDGEROW_OPENML, or openml.org.

    Returns
    -------
    Dataset
        Inputs, target and their names.

    Raises
    ------
    DataFileError
        If the server does not have the dataset or can't be reached, the file is not what its checksum says, or the
        dataset has no target.

    Examples
    --------
    >>> from hedgerow.datasets import fetch_openml
    >>> fetch_openml("credit-g").y[:2]  # doctest: +SKIP
    array(['good', 'bad'], dtype='<U4')
    """
    folder = cache_folder(data_home)
    for entry in cached(folder):
        origin = entry.origin
        if name in (origin.name, origin.id) and version in (None, origin.version):
            return Dataset.of(origin.name, cached_table(folder, entry), origin.target)
    base = server or os.environ.get("HEDGEROW_OPENML") or SERVER
    number = name if isinstance(name, int) else _number_of(base, name, version)
    about = _json(base, f"/api/v1/json/data/{number}")["data_set_description"]
    target = str(about.get("default_target_attribute") or "").partition(",")[0]
    table = _downloaded(base, about)
    if target not in table.column_names:
        raise DataFileError(f"OpenML's dataset {number} has no target that is one of its columns: {target!r}")
    origin = Origin(str(about["name"]), int(about["version"]), int(about["id"]), target, str(about["url"]))
    keep(folder, table, origin)
    return Dataset.of(origin.name, table, target)


def _number_of(base: str, name: str, version: int | None) -> int:
    asked = f"/api/v1/json/data/list/data_name/{quote(name)}/limit/50/status/active"
    if version is not None:
        asked += f"/data_version/{version}"
    found = _json(base, asked)["data"]["dataset"]
    return int(min(found, key=lambda one: int(one["version"]))["did"])


def _downloaded(base: str, about: dict[str, Any]) -> Any:
    """The table, from an ARFF file whose MD5 is what the description says."""
    checksum = hashlib.md5(usedforsecurity=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.arff")
        with path.open("wb") as file, _opened(base, str(about["url"])) as answer:
            while piece := answer.read(_CHUNK):
                checksum.update(piece)
                file.write(piece)
        if checksum.hexdigest() != about["md5_checksum"]:
            raise DataFileError(
                f"{about['url']} is damaged: its MD5 is {checksum.hexdigest()}, but OpenML says "
                f"{about['md5_checksum']}: try again"
            )
        return open_rows(str(path), Reading(format="arff")).table()


def _json(base: str, address: str) -> dict[str, Any]:
    with _opened(base, address) as answer:
        try:
            found: dict[str, Any] = json.load(answer)
        except ValueError:
            raise DataFileError(f"{urljoin(base, address)} did not answer with JSON: is it OpenML?") from None
    return found


def _opened(base: str, address: str) -> Any:
    url = urljoin(base, address)
    if urlparse(url).scheme not in ("http", "https"):
        raise DataFileError(f"{url} is not the address of a server: it must start with http:// or https://")
    try:
        return urlopen(Request(url, headers={"User-Agent": "hedgerow"}), timeout=_SECONDS)
    except HTTPError as error:
        error.close()  # it is the server's answer too, with an open connection
        if error.code in (404, 412):
            raise DataFileError(f"OpenML has no such dataset ({url}: {error.code})") from None
        raise DataFileError(f"{url} answered {error.code} {error.reason}") from None
    except (URLError, TimeoutError) as error:
        raise DataFileError(f"can't reach {url}: {getattr(error, 'reason', error)}") from None

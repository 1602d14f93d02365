"""Model files: checked, versioned, without pickle or code; see ``docs/model_file.md``.

>>> import tempfile, os
>>> from hedgerow import TreeClassifier, load, save
>>> model = TreeClassifier().fit([[1], [2], [3]], ["no", "yes", "yes"])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "model.hedgerow")
...     save(model, path)
...     print(load(path).to_text())
x0 <= 1.5: no (no 1)
x0 > 1.5: yes (yes 2)
"""

from hedgerow._registry import ModelFileError, register
from hedgerow.storage.container import FORMAT_VERSION
from hedgerow.storage.model_file import load, read_fitted, read_notes, save

__all__ = ["FORMAT_VERSION", "ModelFileError", "load", "read_fitted", "read_notes", "register", "save"]

"""Arrays that another thread writes to while the core reads them: any answer will do, no crash and no broken forest."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from effort import examples
from hedgerow.forest import Forest
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.walk import LeafTable, fold, route, spread, tally

# The writer replaces all of X, and the weights, over and over. NumPy copies without the interpreter lock, and the core
# works without it: both run at the same time. A changed table may be refused.
SCRIPT = """
import sys, threading, time
import numpy as np
from hedgerow import ForestRegressor, RandomTreesClassifier, TreeClassifier
from hedgerow.growth import Growth, RandomGrowth, Training, grow_forest, grow_random_forest
from hedgerow.walk import spread

rng = np.random.default_rng(0)
n_rows, n_features = 3000, 6
good = np.floor(40 * rng.random((n_rows, n_features)))
good[:, :3] += rng.random((n_rows, 3))
wild = good.copy()
wild[rng.random(wild.shape) < 0.3] = np.nan
wild[rng.random(wild.shape) < 0.1] = np.inf
wild[rng.random(wild.shape) < 0.1] = -1e300
wild[rng.random(wild.shape) < 0.1] = 1e15
y = rng.integers(0, 3, n_rows)
weight = 1 + rng.random(n_rows)
weights = [weight.copy(), np.where(rng.random(n_rows) < 0.3, 1e6, -1.0)]
X, Xf = good.copy(), np.asfortranarray(good)
stop = False

def write():
    i = 0
    while not stop:
        i += 1
        for array in (X, Xf):
            np.copyto(array, (good, wild)[i % 2])
        np.copyto(weight, weights[i % 2])
        time.sleep(0)

# As estimators call the core, without the copies that some of them make of X.
n_categories = np.array([0, 0, 0, 40, 40, 0], dtype=np.int32)
labels, targets = y.astype(np.int32), y.astype(float)
random_options = RandomGrowth().options(n_rows, 4, 0)
random_options.n_threads = 2

def options(criterion, fast, **settings):
    made = Growth(criterion, **settings).options(np.ones(n_rows), n_features, (criterion,), 0)
    made.n_trees, made.n_threads, made.n_draws = 4, 2, n_rows
    if fast:
        made.max_bins = 255
    return made

def classes(made):
    return lambda: grow_forest(Training(Xf, n_categories, weight, labels=labels, n_classes=3), made).forest

def random_trees(table):
    training = lambda: Training(table, n_categories, weight, labels=labels, n_classes=3)
    return lambda: grow_random_forest(training(), random_options).forest

quiet = dict(n_estimators=4, n_jobs=2, random_state=0)
model = RandomTreesClassifier(**quiet).fit(good, y)
regressor = ForestRegressor(**quiet).fit(good, targets)
plain = Training(Xf, n_categories * 0, weight, targets=targets)
work = {
    "fast": classes(options("gini", True, nominal="subset", missing="random")),
    "exact": classes(options("entropy", False, nominal="multiway")),
    "regression": lambda: grow_forest(plain, options("squared_error", True, missing="random")).forest,
    "random": random_trees(X),
    "random_columns": random_trees(Xf),
    "tree": lambda: TreeClassifier().fit(X, y, sample_weight=weight).forest_,
    "predict": lambda: model.predict_proba(X),
    "walk": lambda: (model.apply(X), spread(model.forest_, X, n_jobs=2)),
    "quantiles": lambda: regressor.predict_quantiles(X),
}
thread = threading.Thread(target=write, daemon=True)
thread.start()
for name, do in work.items():
    print(name, flush=True)
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        try:
            made = do()
        except ValueError:
            continue
        if hasattr(made, "check"):
            made.check()
stop = True
thread.join()
print("done")
"""


def test_writing_to_the_rows_breaks_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(examples(0.15, 0.4))], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])  # the last name is that of what failed
    assert done.stdout.endswith("done\n")


@pytest.fixture
def weightless() -> Forest:
    """A forest that the core is given without the weights of nodes, as random trees are for complete rows."""
    forest = build_forest([threshold(0, 0.5, leaf([1.0, 0.0]), leaf([0.0, 3.0]))], 1)
    bare = Forest.trusted(**forest.parts() | {"weight": None}).core
    vars(forest).update(core=bare, core_with_weight=bare)
    return forest


@pytest.mark.parametrize("n_rows", [1, 20])
def test_a_value_that_goes_missing_after_the_check_is_divided_equally(weightless: Forest, n_rows: int) -> None:
    X = np.full((n_rows, 1), np.nan)
    assert (fold(weightless, X, [LeafTable.of(weightless.counts)])[0] == [0.5, 1.5]).all()
    assert (route(weightless, X) == 0).all()
    assert (spread(weightless, X).toarray() == 0.5).all()
    labels, weights = np.ones(n_rows, dtype=np.int32), np.ones(n_rows)
    assert (tally(weightless, X, labels, weights) == [[0, n_rows / 2], [0, n_rows / 2]]).all()

"""Every rule against plain averaging: the same forests, the same 50,000 rows, one thread."""

from sklearn.datasets import make_classification
from timing import best_of, print_ratios

from hedgerow import ForestClassifier, RandomTreesClassifier, rules

N_TRAIN, N_ROWS, N_TREES, ROUNDS = 20_000, 50_000, 100, 7

X, y = make_classification(N_TRAIN + N_ROWS, 20, n_informative=8, flip_y=0.1, random_state=0)
rows = X[N_TRAIN:]
for model in (
    ForestClassifier(N_TREES, random_state=0),
    RandomTreesClassifier(N_TREES, random_state=0),
    RandomTreesClassifier(N_TREES, min_samples_leaf=8, random_state=0),
):
    model.fit(X[:N_TRAIN], y[:N_TRAIN])

    def first_call(name, model=model):
        """What making a table anew adds: the rule is set, and one row predicted."""
        model.set_params(rule="pool").predict_proba(rows[:1])
        model.set_params(rule=name).predict_proba(rows[:1])

    def predict(name, model=model):
        model.set_params(rule=name).predict_proba(rows)

    # Each rule twice in a row, and the second time counts: as for a model in use, its table is there already.
    seconds = {}
    for _ in range(ROUNDS):
        for name in rules.names():
            predict(name)
            once = best_of({name: lambda name=name: predict(name)}, 1)
            seconds[name] = min(seconds.get(name, once[name]), once[name])
    print_ratios(f"{model}: predict_proba of {N_ROWS} rows", seconds, "probability")
    print_ratios("making the table", best_of({n: lambda n=n: first_call(n) for n in rules.names()}, 3), "probability")
    together = best_of({"all nine in one walk": lambda model=model: rules.compare(model, rows)}, 2)
    print(f"  {'all nine in one walk':<44} {together['all nine in one walk'] * 1e3:10.3f} ms")

"""Claims of Busch et al., and what our runs do otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.claims import on_datasets
from hedgerow.experiments.findings import Claim
from hedgerow.experiments.published import published
from hedgerow.experiments.reports.combining_scores import EVEN, LEAF_SIZES, METHODS, NINE, UNEVEN, MethodScores
from hedgerow.experiments.study import Results

__all__ = ["combining_claims", "combining_differences"]

Floats = NDArray[np.float64]


def combining_claims(data: MethodScores, results: Results) -> list[Claim]:
    """The statements of sections 5.2 and 5.3."""

    def gap(better: str, than: str, measure: str, methods: Sequence[str] = NINE) -> Callable[[int], Floats]:
        """By how many ranks one method is ahead of another in each dataset, at a leaf size."""

        def at(size: int) -> Floats:
            ranks = data.ranks(methods, size, measure)
            ahead: Floats = ranks[:, methods.index(than)] - ranks[:, methods.index(better)]
            return ahead

        return at

    def mean_over(at: Callable[[int], Floats], sizes: Sequence[int]) -> Floats:
        mean: Floats = np.mean([at(size) for size in sizes], axis=0)
        return mean

    def ahead_of_all(method: str, others: Sequence[str], measure: str, sizes: Sequence[int]) -> Floats:
        """By how many ranks a method is ahead of the best of the others in the mean over the datasets."""
        methods = (method, *others)
        ranks = np.mean([data.ranks(methods, size, measure) for size in sizes], axis=0)
        rival = 1 + int(ranks[:, 1:].mean(axis=0).argmin())
        ahead: Floats = ranks[:, rival] - ranks[:, 0]
        return ahead

    others = tuple(name for name in NINE if name != "evidence")
    averages = ("probability", "laplace", "plausibility", "confidence")
    laplace = gap("probability", "laplace", "auc")
    falls = gap("probability", "plausibility", "auc")
    vote = gap("probability", "vote", "accuracy")
    weak = [
        np.mean([data.ranks(NINE, size, "auc") for size in LEAF_SIZES], axis=0)[:, [NINE.index(one) for one in names]]
        for names in (("dempster", "cautious"), averages)
    ]
    per_size = ", ".join(f"leaf {size}: {laplace(size).mean():+.1f}" for size in LEAF_SIZES)
    claims = [
        on_datasets(
            "Laplace's correction ranks below plain averaging in AUC at every leaf size.",
            *("5.2, Figure 4", mean_over(laplace, LEAF_SIZES), "ranks that averaging is ahead"),
            also=all(laplace(size).mean() > 0 for size in LEAF_SIZES),
            detail=per_size,
        ),
        on_datasets(
            "Evidence accumulation is first of the nine rules in accuracy at leaf sizes above 2.",
            *("5.2, Figure 3", ahead_of_all("evidence", others, "accuracy", (3, 4, 8, 32))),
            "ranks ahead of the best other rule",
        ),
        on_datasets(
            "Plausibility is close to averaging in AUC in small leaves and falls behind as they grow.",
            *("5.2, Figure 4", falls(32) - falls(1), "ranks that it loses from leaf size 1 to 32"),
        ),
        on_datasets(
            "At medium leaf sizes (3, 4, 8) confidence bounds are the best of the averaged scores in AUC.",
            *("5.2, Figure 4", ahead_of_all("confidence", averages[:3], "auc", (3, 4, 8))),
            "ranks ahead of the best other averaged score",
        ),
        on_datasets(
            "Dempster's rule and the cautious rule are weak in AUC.",
            *("5.2, Figure 3", weak[0].mean(axis=1) - weak[1].mean(axis=1)),
            "ranks that both are behind the averaged scores",
        ),
    ]
    if even := data.of_ratio(EVEN):
        strong = ahead_of_all("dempster", tuple(one for one in NINE if one != "dempster"), "accuracy", (3, 4, 8, 32))
        claims.append(
            on_datasets(
                "On balanced data Dempster's rule is as good in accuracy as any other, at leaf sizes above 2.",
                *("5.3, Figure 6", -strong[even], "ranks behind the best other rule"),
                below=1.0,
            )
        )
    if data.of_ratio(EVEN) and (uneven := data.of_ratio(UNEVEN)):
        ahead = mean_over(gap("forest", "evidence", "accuracy", METHODS), LEAF_SIZES)
        claims += [
            on_datasets(
                "On unbalanced data the random forest is ahead of evidence accumulation on random trees.",
                *("5.2, Figure 6", ahead[uneven], "ranks ahead in accuracy"),
            ),
            on_datasets(
                "On balanced data the random forest has next to no lead.",
                *("5.2, Figure 6", ahead[data.of_ratio(EVEN)], "ranks that it is ahead of evidence in accuracy"),
                below=1.0,
            ),
        ]
    claims.append(
        on_datasets(
            "Voting is level with averaging in accuracy in the smallest leaves only.",
            *("5.3, Figure 3", vote(32) - vote(1), "ranks that it loses from leaf size 1 to 32"),
            detail=f"averaging ahead by {vote(1).mean():.1f} ranks at leaf size 1, {vote(32).mean():.1f} at 32",
        )
    )
    if "airlines-sample" in results.datasets:
        claims.append(
            on_datasets(
                "Pooling is ahead of the other rules on airlines (here a sample of 5 % of its rows).",
                *("5.3, Figure 5", _lead_of_pool(results, "airlines-sample")),
                "points of accuracy over the best other rule, mean over leaf sizes from 2",
                unit="splits",
            )
        )
    return claims


def _lead_of_pool(results: Results, dataset: str) -> Floats:
    """Points of accuracy by which pooling is ahead of the best other rule in each split, mean over leaf sizes."""
    leads = []
    for size in LEAF_SIZES[1:]:
        of_rules = np.array([results.of_parts(dataset, f"{name}/{size}", "accuracy") for name in NINE])
        others = np.delete(of_rules, NINE.index("pool"), axis=0)
        leads.append(of_rules[NINE.index("pool")] - others.max(axis=0))
    lead: Floats = 100 * np.mean(leads, axis=0)
    return lead


def combining_differences(results: Results) -> list[str]:
    """Where the runs are not those of the paper, as far as we know."""
    printed = {row["dataset"]: row["paper_name"] for row in published("combining_table1")}
    absent = [name for dataset, name in printed.items() if dataset not in results.datasets]
    found = [f"Of the paper's {len(printed)} datasets these are not here: {', '.join(absent)}."] if absent else []
    if len(absent) == len(printed):
        found = ["None of the paper's datasets is here, so the page says little about its claims."]
    if "airlines-sample" in results.datasets:
        found.append("Of airlines a sample of 5 % of its rows is here. It stays out of the ranks.")
    return [
        *found,
        "The paper says five times two-fold cross-validation, and so do we. The published code of its authors draws "
        "five random halves instead, so that a row may be tested several times or never.",
        "Figures 3 to 6 of the paper are pictures without numbers: its statements are compared, not single figures.",
        "The printed formula of evidence accumulation and the authors' code differ; the last table has both, and the "
        "claims are decided on the formula.",
        "The single tree and the random forest are hedgerow's. A missing value is a category of its own in random "
        "trees, as in the authors' code.",
    ]

"""Trees and forests as rules, and as code in other languages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from hedgerow.codegen import (
    LeafRules,
    Program,
    c_code,
    dot_text,
    leaf_rules,
    make_program,
    python_code,
    sql_expression,
)
from hedgerow.codegen.program import check_size
from hedgerow.codegen.sql import MOST_NODES
from hedgerow.estimators.verbs.pictures import Pictures
from hedgerow.walk import HardWalk

__all__ = ["Code", "CodeOfOne", "CodeOfSeveral"]

_MOST_IN_FILES = 200_000  # nodes of a Python module or a C file


class Code(Pictures):
    """Abstract: code of a whole model, which answers as it does, to the last bit."""

    def to_python(self) -> str:
        """Write a Python module with `predict(row)` and, for classes, `predict_proba(row)` that needs nothing else.

        A row is a mapping from names to values, or a sequence of values; None and NaN are missing values.

        Returns
        -------
        str
            The source of the module.

        Raises
        ------
        ValueError
            If the answers of the model are more than sums over leaves.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> code, module = TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).to_python(), {}
        >>> exec(code, module)
        >>> module["predict"]({"x0": 3})
        'yes'
        """
        return python_code(self._program("to_python", _MOST_IN_FILES), version("hedgerow"))

    def to_c(self, name: str = "tree") -> str:
        """Write a C99 file whose functions and data have names that begin with `name`.

        ``tree_predict(row)`` and, for classes, ``tree_predict_proba(row, p)`` take an array of doubles, NAN for missing
        values; ``tree_code(column, "category")`` is the number of a category.

        Parameters
        ----------
        name : str, default="tree"
            Prefix of the functions and data in the file.

        Returns
        -------
        str
            The source of the file.

        Raises
        ------
        ValueError
            If `name` is no identifier of C, or the answers of the model are more than sums over leaves.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> code = TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).to_c("risk")
        >>> [line for line in code.splitlines() if line.startswith("int risk_predict(")]
        ['int risk_predict(const double *row) {']
        """
        return c_code(self._program("to_c", _MOST_IN_FILES), version("hedgerow"), name)

    def to_sql(self, dialect: str = "duckdb", *, output: str = "label", table: str | None = None) -> str:
        """Write an SQL expression of a row's answer, for ``SELECT id, {expression} FROM …``.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite"}, default="duckdb"
            Database that is to run the expression.
        output : {"label", "proba"}, default="label"
            The answer of `predict`; or the probability of each class, as expressions with the names ``p(class)``.
        table : str or None, default=None
            Name or alias of the table that columns are qualified with; None: they are not.

        Returns
        -------
        str
            The expression; of probabilities one for each class, separated by commas.

        Raises
        ------
        ValueError
            If the dialect is not known, probabilities are asked of a regressor, or the expression would be too long.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> sql = TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).to_sql()
        >>> print(sql.splitlines()[1].strip())
        WHEN "x0" <= 2.5e0 THEN 'no'
        """
        return sql_expression(self._program("to_sql", MOST_NODES), dialect, output, table)

    def _program(self, what: str, most: int) -> Program:
        """The model as generators read it; at most so many nodes."""
        check_is_fitted(self)
        check_size(self.forest_, most, what, "use to_c() or `hedgerow predict`" if what == "to_sql" else "use save()")
        if not isinstance(self._walk, HardWalk):
            raise ValueError(
                f"{type(self).__name__}: its rows are in several regions at once, which {what} can't write: use "
                "to_rules() or to_svg() to show the regions, and `hedgerow predict` to answer"
            )
        query, steps = self._sums_and_steps()
        values = query.table.of_each_leaf
        classes, costs = None, None
        codes: Sequence[int] = ()
        if is_classifier(self):
            classes = self.classes_
            given = getattr(self, "cost_matrix", None)
            costs = None if given is None else np.asarray(given, dtype=np.float64)
            codes = self._decide(values).tolist() if self.forest_.n_trees == 1 else ()
        title = f"{type(self).__name__} with {self.forest_.n_trees} tree{'s' * (self.forest_.n_trees != 1)}"
        return make_program(
            title,
            self.forest_,
            self.schema_,
            values,
            steps,
            tree_weights=query.tree_weights,
            classes=classes,
            costs=costs,
            leaf_codes=codes,
        )

    def _rules(self, tree: int, sort: str) -> LeafRules:
        check_is_fitted(self)
        codes = self._leaf_codes().tolist() if is_classifier(self) else []
        answers = self.classes_[codes].tolist() if codes else []
        return leaf_rules(self.forest_, tree, self.schema_, self._names(), answers=answers, codes=codes, sort=sort)


class CodeOfOne(Code):
    """Abstract: a single tree."""

    def to_rules(self, *, sort: str = "coverage") -> LeafRules:
        """List a rule for each leaf, with its conditions merged, rows, confidence and lift.

        They are sorted by "coverage", the rows that meet them, or by "confidence". ``print`` shows a line for each;
        ``to_frame()`` is a table.

        Parameters
        ----------
        sort : {"coverage", "confidence"}, default="coverage"
            What comes first: rules of many rows, or rules of high confidence.

        Returns
        -------
        LeafRules
            The rules, sorted; ``print`` shows a line for each.

        Raises
        ------
        ValueError
            If `sort` is neither of the two.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> print(TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).to_rules())
        x0 <= 2.5: no (2 rows, 66.7%; confidence 1, lift 1.5)
        x0 > 2.5: yes (1 row, 33.3%; confidence 1, lift 3)
        """
        return self._rules(0, sort)

    def to_dot(self, *, max_depth: int | None = None) -> str:
        """Write the tree in the language of Graphviz.

        Parameters
        ----------
        max_depth : int or None, default=None
            Depth below which the tree is summarised; None shows all of it.

        Returns
        -------
        str
            A directed graph, for ``dot -Tpdf``.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> print(TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).to_dot().splitlines()[0])
        digraph tree {
        """
        return dot_text(self._view(0, max_depth, None))


class CodeOfSeveral(Code):
    """Abstract: several trees."""

    def to_rules(self, tree: int = 0, *, sort: str = "coverage") -> LeafRules:
        """List the rules of one of the trees, as :meth:`hedgerow.TreeClassifier.to_rules`.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree, from 0.
        sort : {"coverage", "confidence"}, default="coverage"
            What comes first: rules of many rows, or rules of high confidence.

        Returns
        -------
        LeafRules
            The rules, sorted; ``print`` shows a line for each.

        Raises
        ------
        ValueError
            If there is no such tree, or `sort` is neither of the two.
        """
        return self._rules(tree, sort)

    def to_dot(self, tree: int = 0, *, max_depth: int | None = None) -> str:
        """Write one of the trees in the language of Graphviz.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree, from 0.
        max_depth : int or None, default=None
            Depth below which the tree is summarised; None shows all of it.

        Returns
        -------
        str
            A directed graph, for ``dot -Tpdf``.

        Raises
        ------
        ValueError
            If there is no such tree.
        """
        return dot_text(self._view(tree, max_depth, None))

"""Base of estimators that wrap another one: how it is made, and what its `fit` is passed."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn import get_config
from sklearn.base import MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from hedgerow._registry import register

__all__ = ["Wrapper", "requesting_weights"]


register(
    FrozenEstimator,
    name="sklearn.FrozenEstimator",
    take=lambda frozen: {"estimator": frozen.estimator},
    make=lambda values: FrozenEstimator(values["estimator"]),
)


class Wrapper(MetaEstimatorMixin):  # type: ignore[misc]
    """Abstract; final classes have the parameter `estimator`, which is cloned and fitted, unless it is frozen."""

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing: `fit` passes metadata on to that of `estimator`.

        Returns
        -------
        MetadataRouter
            What the estimator inside asks for.

        Examples
        --------
        >>> from hedgerow import CautiousClassifier, ForestClassifier
        >>> CautiousClassifier(ForestClassifier()).get_metadata_routing().owner.__class__.__name__
        'CautiousClassifier'
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(estimator=self._template(), method_mapping=mapping)

    def _template(self) -> Any:
        """Estimator to fit; the default one requests the weights that it is passed."""
        return requesting_weights(self._default()) if self.estimator is None else self.estimator

    @abstractmethod
    def _default(self) -> Any:
        """Estimator that None stands for."""

    def _params_of_estimator(self, template: Any, sample_weight: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Parameters for the estimator's `fit`: as it requests, if routing is enabled, else the weights."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **fit_params)
            return dict(routed.estimator.fit)
        if fit_params:
            raise ValueError(
                f"fit was given {sorted(fit_params)}, which it passes on to estimator only with "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        if sample_weight is None:
            return {}
        if not has_fit_parameter(template, "sample_weight"):
            raise ValueError(f"sample_weight was given, but {type(template).__name__}.fit takes none: leave it out")
        return {"sample_weight": sample_weight}


def requesting_weights(estimator: Any) -> Any:
    """Make the estimator request `sample_weight` where scikit-learn's metadata routing is enabled."""
    if get_config()["enable_metadata_routing"]:
        estimator.set_fit_request(sample_weight=True)
    return estimator

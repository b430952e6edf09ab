# SPDX-License-Identifier: LGPL-2.1-or-later
"""What scikit-learn's tools ask of an estimator. Nothing here imports scikit-learn before scikit-learn itself asks."""

from __future__ import annotations

from .errors import ArgumentError
from .memory import import_module
from .native import Apr, extends
from .properties import get_given, list_cloned, to_name


# Where a model keeps what is to be done with weights.
_REQUESTS = '_sample_weight_requests'


def _set_request(self, method, value):
    if not (value is None or isinstance(value, bool) or isinstance(value, str) and value.isidentifier()):
        raise ArgumentError(f'sample_weight must be True, False, None or a name, not {value!r}')
    # A new one: a copy of the model has the same.
    vars(self)[_REQUESTS] = {**vars(self).get(_REQUESTS, {}), method: value}
    return self


def copy_requests(self, clone):
    """Gives a clone what is to be done with weights."""
    if _REQUESTS in vars(self):
        vars(clone)[_REQUESTS] = vars(self)[_REQUESTS]
    return clone


@extends(Apr.Estimator)
class Methods:
    # What scikit-learn below 1.6 asks for in place of __sklearn_tags__.
    _estimator_type = 'regressor'

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The hyper-parameters by their names; values of enumerations as strings.

        deep is there for scikit-learn: no parameter of a model is a model.
        """
        return {to_name(pspec): get_given(self, pspec) for pspec in list_cloned(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Sets hyper-parameters by their names, and returns the model. Where a name is unknown, or a value is refused, it
        changes none of them.
        """
        pspecs = {to_name(pspec): pspec for pspec in list_cloned(type(self))}
        for name in params:
            if name not in pspecs:
                raise ArgumentError(f'{type(self).__name__} has no hyper-parameter “{name}”, but: {", ".join(pspecs)}')
        before = {}
        with self.freeze_notify():
            try:
                for name, value in params.items():
                    given = get_given(self, pspecs[name])
                    setattr(self, name, value)
                    before[name] = given
            except BaseException:
                for name, given in before.items():
                    setattr(self, name, given)
                raise
        return self

    def __sklearn_clone__(self):
        return copy_requests(self, type(self)(**self.get_params()))

    def set_fit_request(self, *, sample_weight: bool | str | None) -> Self:
        """Says whether scikit-learn's tools are to pass sample_weight to fit(), or under which other name they have it.

        As with scikit-learn's own estimators, tools heed it where sklearn.set_config(enable_metadata_routing=True) is.
        """
        return _set_request(self, 'fit', sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Says whether scikit-learn's tools are to pass sample_weight to score(), as set_fit_request() does for fit()."""
        return _set_request(self, 'score', sample_weight)

    def get_metadata_routing(self) -> Any:
        """What scikit-learn's tools are to pass to the methods: a sklearn.utils.metadata_routing.MetadataRequest."""
        from sklearn.utils.metadata_routing import MetadataRequest

        try:
            routing = MetadataRequest(owner=self)
        except TypeError:
            routing = MetadataRequest(owner=type(self).__name__)
        requests = vars(self).get(_REQUESTS, {})
        for method in ('fit', 'score') + (('partial_fit',) if hasattr(self, 'partial_fit') else ()):
            getattr(routing, method).add_request(param='sample_weight', alias=requests.get(method))
        return routing

    def __sklearn_is_fitted__(self):
        return self.get_fitted()

    def __sklearn_tags__(self):
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(estimator_type='regressor', regressor_tags=RegressorTags(), input_tags=InputTags(sparse=True),
                    target_tags=TargetTags(required=True, multi_output=True))

    @property
    def n_features_in_(self) -> int:
        """The number of features that the model was fitted with, as scikit-learn calls it; missing before a fit."""
        return _get_fitted(self, 'n_features_in_', self.get_n_features())

    @property
    def feature_names_in_(self) -> Array:
        """The names of the features as an array, as scikit-learn calls them; missing where they have none."""
        names = _get_fitted(self, 'feature_names_in_', self.get_feature_names())
        return import_module('numpy').array(names, object)


@extends(Apr.LinearRegression)
class LinearMethods:
    def set_partial_fit_request(self, *, sample_weight: bool | str | None) -> Self:
        """Says whether scikit-learn's tools are to pass sample_weight to partial_fit(), as set_fit_request() does."""
        return _set_request(self, 'partial_fit', sample_weight)

    @property
    def coef_(self) -> Array:
        """The coefficients, as scikit-learn calls them; missing before a fit."""
        return _get_fitted(self, 'coef_', self.coefficients)

    @property
    def intercept_(self) -> Any:
        """The intercept, as scikit-learn calls it; missing before a fit."""
        return _get_fitted(self, 'intercept_', self.intercept)


def _get_fitted(self, name, value):
    if value is None or not self.get_fitted():
        raise AttributeError(f'{type(self).__name__} has no {name}' + ('' if self.get_fitted() else ' before a fit'))
    return value

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names of features and targets, attributes that models and cross products have alike."""

from __future__ import annotations

from .native import Apr, extends


def number_names(prefix, n):
    """What n features or targets without names are called."""
    return [f'{prefix}{i}' for i in range(n)]


@extends(Apr.Estimator, Apr.CrossProducts)
class Names:
    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features as a list, or None where they have none. They may be assigned."""
        return self.get_feature_names()

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        self.set_feature_names(names)

    @property
    def target_names(self) -> list[str] | None:
        """The names of the targets as a list, or None where they have none. They may be assigned."""
        return self.get_target_names()

    @target_names.setter
    def target_names(self, names: Sequence[str] | None) -> None:
        self.set_target_names(names)

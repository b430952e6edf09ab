# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables for notebooks: what a model and its statistics look like in a cell."""

import math
from html import escape
from typing import Any

from gi.repository import GLib

from .errors import ArgumentError
from .names import number_names
from .native import Apr, extends

_COLUMNS = ('', 'estimate', 'std. error', 't value', 'Pr(>|t|)', '2.5 %', '97.5 %')
_FOOTER = (('samples', 'n_samples'), ('degrees of freedom', 'df_residual'),
           ('residual std. error', 'residual_standard_error'), ('R²', 'r_squared'), ('adjusted R²', 'adjusted_r_squared'),
           ('F', 'f_statistic'), ('Pr(>F)', 'f_p_value'), ('AIC', 'aic'), ('BIC', 'bic'))
# Of more terms the first and the last are shown, as pandas does.
_MAX_ROWS = 60
# What the summary says below rows of NA.
_NOTE = ('<p>NA: depends on features before it; the estimates are those without it. The model itself has the coefficients '
         'of minimum norm, which predict the same for rows that satisfy the same linear relations.</p>')


_summary = Apr.LinearRegression.summary
_summary_finish = Apr.LinearRegression.summary_finish


class _Text(str):
    """A text of several lines, which a cell shows as print() does."""

    def _repr_pretty_(self, printer, _cycle):
        printer.text(str(self))

    def __reduce__(self):
        return str, (str(self),)


def _format(value):
    return str(value) if isinstance(value, int) else 'NA' if math.isnan(value) else f'{value:.6g}'


def _make_row(cells, tag='td'):
    return '<tr>' + ''.join(f'<{tag}>{cell}</{tag}>' for cell in cells) + '</tr>'


def _make_table(names, cells):
    """The cells of each row, of which the first is a text and the others are numbers."""
    shown = cells if len(cells) <= _MAX_ROWS else cells[:_MAX_ROWS // 2] + [None] + cells[-_MAX_ROWS // 2:]
    rows = [_make_row(['…'] * len(names)) if cell is None else _make_row([escape(cell[0]), *map(_format, cell[1:])])
            for cell in shown]
    return f'<table>{_make_row(map(escape, names), "th")}{"".join(rows)}</table>'


def _show_coefficients(model):
    coefficients, n, n_targets = model.get_coefficients(), model.n_features, model.n_targets
    cells = [[name, *(coefficients.get_double(target * n + i) for target in range(n_targets))]
             for i, name in enumerate(model.feature_names or number_names('x', n))]
    if model.fit_intercept:
        cells.insert(0, ['(Intercept)', *([model.intercept] if coefficients.get_n_dims() == 1 else model.intercept)])
    heads = ['coefficient'] if n_targets == 1 else model.target_names or [f'Target {i}' for i in range(n_targets)]
    return _make_table(['', *heads], cells)


@extends(Apr.RegressionStatistics)
class Statistics:
    def _repr_html_(self):
        columns = [self.coefficients, self.standard_errors, self.t_values, self.p_values,
                   *zip(*self.get_confidence_intervals())]
        names, note = _COLUMNS, ''
        if any(map(math.isnan, self.coefficients)):
            columns.append(self.minimum_norm)
            names, note = (*names, 'minimum norm'), _NOTE
        _, start, warning = str(self).rpartition('\nWarning: ')
        if start:
            note += f'<p>{escape(start + warning)}</p>'
        footer = [_make_row([name, _format(getattr(self, attribute))]) for name, attribute in _FOOTER]
        if self.covariance_kind != Apr.CovarianceKind.CLASSICAL:
            footer.append(_make_row(['covariance', self.covariance_kind.value_nick.upper()]))
        return f'{_make_table(names, list(zip(self.terms, *columns)))}{note}<table>{"".join(footer)}</table>'


@extends(Apr.LinearRegression)
class Model:
    def summary(self) -> str:
        """The text of the statistics of each target: the terms with their intervals of 95 %, and how well they fit."""
        return _Text(_summary(self))

    def summary_finish(self, result: Any) -> str:
        """Ends what summary_async() began with a callback: the text."""
        return _Text(_summary_finish(self, result))

    def _repr_html_(self):
        html = f'<p><code>{escape(repr(self))}</code></p>'
        try:
            tables = [self.get_statistics(target)._repr_html_() for target in range(self.n_targets)]
        except GLib.Error:
            # There are none without the sums of the samples, nor with a penalty.
            return html + (_show_coefficients(self) if self.fitted else '')
        if len(tables) > 1:
            names = self.target_names or range(self.n_targets)
            tables = [f'<p>Target {escape(str(name))}</p>{table}' for name, table in zip(names, tables)]
        return html + ''.join(tables)


@extends(Apr.GroupFits, Apr.RegressionDiagnostics)
class Frames:
    def _repr_html_(self):
        try:
            return self.to_frame()._repr_html_()
        except (ImportError, ArgumentError):
            # None has a notebook show the text.
            return None

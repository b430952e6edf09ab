# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables for notebooks: what a model and its statistics look like in a cell."""

from html import escape

from gi.repository import GLib

from .native import Apr, extends

_COLUMNS = ('', 'estimate', 'std. error', 't value', 'Pr(>|t|)', '2.5 %', '97.5 %')
_FOOTER = (('samples', 'n_samples'), ('degrees of freedom', 'df_residual'),
           ('residual std. error', 'residual_standard_error'), ('R²', 'r_squared'), ('adjusted R²', 'adjusted_r_squared'),
           ('F', 'f_statistic'), ('Pr(>F)', 'f_p_value'), ('AIC', 'aic'), ('BIC', 'bic'))


def _format(value):
    return str(value) if isinstance(value, int) else f'{value:.6g}'


def _make_row(cells, tag='td'):
    return '<tr>' + ''.join(f'<{tag}>{cell}</{tag}>' for cell in cells) + '</tr>'


@extends(Apr.RegressionStatistics)
class Statistics:
    def _repr_html_(self):
        rows = [_make_row(_COLUMNS, 'th')]
        for term, *numbers, interval in zip(self.terms, self.coefficients, self.standard_errors, self.t_values, self.p_values,
                                            self.get_confidence_intervals()):
            rows.append(_make_row([escape(term), *map(_format, [*numbers, *interval])]))
        footer = [_make_row([name, _format(getattr(self, attribute))]) for name, attribute in _FOOTER]
        return f'<table>{"".join(rows)}</table><table>{"".join(footer)}</table>'


@extends(Apr.LinearRegression)
class Model:
    def _repr_html_(self):
        html = f'<p><code>{escape(repr(self))}</code></p>'
        try:
            tables = [self.get_statistics(target)._repr_html_() for target in range(self.n_targets)]
        except GLib.Error:
            # There are none without the sums of the samples, nor with a penalty.
            return html
        return html + ''.join(tables)

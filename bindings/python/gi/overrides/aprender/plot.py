# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots of a fit, which the command `aprender plot` draws: a notebook shows them."""

from __future__ import annotations

import copy
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

from .errors import ArgumentError
from .estimator import read_samples
from .lists import describe
from .names import number_names
from .native import Apr, extends, make_error
from .properties import advise, check_text
from .safetensors import save_file


_KINDS = ('residuals', 'quantiles', 'scale', 'leverage', 'actual')


_ENDS = ('.svg', '.png', '.pdf')


class Plot:
    """A picture of a fit: svg is its text, and as the last line of a notebook's cell it is shown."""

    svg: str

    def __init__(self, svg: str, draw: object = None) -> None:
        # draw(end) gives the bytes of the picture in the format whose files have names with this end.
        self.svg, self._draw = svg, draw

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return 'A plot: the last line of a notebook\'s cell shows it, save(path) writes it'

    def show(self) -> None:
        """Shows the picture in a notebook, also where it is not the last line of a cell."""
        from IPython.display import display

        display(self)

    def save(self, path: Path) -> None:
        """Writes the picture to a file, whose name ends with .svg, .png or .pdf."""
        check_text(os.fspath(path), 'path')
        end = pathlib.Path(os.fspath(path)).suffix
        if end not in _ENDS:
            raise ArgumentError(f'The name of a picture ends with {", ".join(_ENDS)}: “{os.fspath(path)}” does not')
        pathlib.Path(os.fspath(path)).write_bytes(self.svg.encode() if end == '.svg' else self._draw(end))


def _find_command():
    """The command aprender: that of the package, where pip installed it, or else the one on the path."""
    own = pathlib.Path(__file__).parents[3] / 'aprender' / 'aprender'
    command = str(own) if own.is_file() else shutil.which('aprender')
    if command is None:
        raise make_error(Apr.Error.FAILED, 'Plots are drawn by the command aprender, which is not installed')
    return command


def _list_columns(tensor):
    if len(tensor.shape) == 1:
        return [tensor]
    return [tensor.slice(f':, {i}') for i in range(tensor.shape[1])]


def _name_targets(y, n_targets):
    """What the targets are called: as the columns of a table are that they come from."""
    if isinstance(y, list) or hasattr(y, 'columns'):
        names = list(getattr(y, 'columns', y))
    else:
        names = [y if isinstance(y, str) else getattr(y, 'name', None)]
    if len(names) == n_targets and all(isinstance(name, str) and name for name in names):
        return names
    return ['y'] if n_targets == 1 else number_names('y', n_targets)


def _add(columns, name, column):
    """Adds a column, whose name it returns: another one where a feature has that."""
    while name in columns:
        name += "'"
    columns[name] = column
    return name


def _draw(command, model, columns, options, end):
    """The bytes of the file that the command makes."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(f'{folder}/model.safetensors')
        save_file(columns, f'{folder}/data.safetensors')
        run = subprocess.run([command, 'plot', 'model.safetensors', 'data.safetensors', f'--output=plot{end}', *options],
                             cwd=folder, stderr=subprocess.PIPE, encoding='utf-8', errors='replace', check=False)
        if run.returncode != 0:
            raise make_error(Apr.Error.FAILED, run.stderr.strip().removeprefix('aprender: ').removeprefix('model.safetensors: '))
        return pathlib.Path(folder, f'plot{end}').read_bytes()


@extends(Apr.LinearRegression)
class Model:
    def plot(self, X: Data, y: Target, sample_weight: Weights = None, kind: str | None = None, feature: str | None = None,
             dark: bool = False, width: int = 800, height: int = 600) -> Plot:
        """The plots by which a fit is judged, as the command `aprender plot` draws them.

        X, y and sample_weight are the samples of the fit. kind is 'residuals', 'quantiles', 'scale', 'leverage' or
        'actual', and None shows the first four; feature is the name of one, against which the target is shown with the
        model's line and band. Of several targets, it is the first.
        """
        command = _find_command()
        if self.n_features == 0:
            raise make_error(Apr.Error.NOT_FITTED, f'Cannot plot an unfitted {type(self).__name__}: call fit first')
        if kind is not None and kind not in _KINDS:
            raise ArgumentError(f'kind must be one of {", ".join(f"“{name}”" for name in _KINDS)}, not {describe(kind)}')
        if kind is not None and feature is not None:
            raise ArgumentError('kind and feature exclude each other: with feature, the target is shown against it')
        X, targets, weights = read_samples(self, X, y, sample_weight).get_tensors()
        if kind != 'actual' and feature is None:
            # The command says the same of what cannot be shown, but not what kind of mistake it is.
            self.diagnose(X, targets, weights)
        # With its sums where it has them, and with names by which the columns of a table are found.
        model = copy.copy(self)
        model.keep_state = self.get_cross_products() is not None
        model.feature_names = self.feature_names or number_names('x', self.n_features)
        check_text(feature, 'feature')
        if feature is not None and feature not in model.feature_names:
            raise ArgumentError(f'The model has no feature “{feature}”{advise(feature, model.feature_names)}')
        columns = dict(zip(model.feature_names, _list_columns(X)))
        options = [f'--{name}={value}' for name, value in (('kind', kind), ('feature', feature)) if value is not None]
        for name, column in zip(_name_targets(y, self.n_targets), _list_columns(targets)):
            options.append('--target=' + _add(columns, name, column))
        if weights is not None:
            options.append('--weight=' + _add(columns, 'weight', weights))
        options += [*['--dark'] * bool(dark), f'--width={width}', f'--height={height}']
        draw = functools.partial(_draw, command, model, columns, options)
        return Plot(draw('.svg').decode(), draw)

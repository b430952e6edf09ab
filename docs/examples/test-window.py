# SPDX-License-Identifier: LGPL-2.1-or-later
"""Uses rents-window.py as a user would: test-window.py FILE.csv, under X.

The file is written here: rents that depend on area and rooms exactly, and on noise that is -1 and 1 equally often for
each of four kinds of flats. So all statistics are known: the design is balanced.
"""

import importlib.util
import os
import pathlib
import sys

here = pathlib.Path(__file__).parent
sys.path.append(str(here / '../../bindings/python/tests'))
import tap  # noqa: E402
from common import TestCase  # noqa: E402

spec = importlib.util.spec_from_file_location('rents_window', here / 'rents-window.py')
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
Gtk, Gio, GLib = program.Gtk, program.Gio, program.GLib

N_ROWS = 8 * (int(os.environ.get('APRENDER_TEST_ROWS', 400000)) // 8)
FLATS = [(50, 1), (50, 3), (150, 1), (150, 3)]
path = pathlib.Path(sys.argv.pop())
rows = ''.join(f'{area},{rooms},{20 + 10 * area + 5 * rooms + noise}\n' for noise in (-1, 1) for area, rooms in FLATS)
path.write_text('area,rooms,rent\n' + rows * (N_ROWS // 8))

estimates, deviation = [20, 10, 5], (N_ROWS / (N_ROWS - 3)) ** 0.5
errors = [factor * deviation / N_ROWS ** 0.5 for factor in ((1 + (100 / 50) ** 2 + (2 / 1) ** 2) ** 0.5, 1 / 50, 1)]


def until(condition):
    """Lets the main loop run until something is true."""
    while not condition():
        GLib.MainContext.default().iteration(True)


def descendants(widget):
    child = widget.get_first_child()
    while child is not None:
        yield child
        yield from descendants(child)
        child = child.get_next_sibling()


class Window(TestCase):
    def open(self):
        application.open([Gio.File.new_for_path(str(path))], '')
        until(application.get_active_window)
        window = application.get_active_window()
        self.addCleanup(window.destroy)
        return window

    def find(self, window, type_):
        return [child for child in descendants(window) if isinstance(child, type_)]

    def get_texts(self, window):
        return [label.get_label() for label in self.find(window, Gtk.Label)]

    def test_cancel(self):
        window = self.open()
        self.assertTrue(window.cancel.get_sensitive())
        window.cancel.emit('clicked')
        until(lambda: not window.cancel.get_sensitive())
        self.assertIn('cancelled', window.prediction.get_label())
        self.assertEqual(self.find(window, Gtk.Entry), [])
        self.assertIsNone(window.view.get_model())

    def test_fit(self):
        window = self.open()
        fractions = []
        window.bar.connect('notify::fraction', lambda bar, _: fractions.append(bar.get_fraction()))
        until(lambda: not window.cancel.get_sensitive())
        self.assertEqual(window.prediction.get_label(), '')
        self.assertEqual(fractions, sorted(fractions))
        self.assertEqual(fractions[-1], 1)

        terms = list(window.view.get_model())
        self.assertEqual([term.name for term in terms], ['(Intercept)', 'area', 'rooms'])
        self.assertEqual([term.estimate for term in terms], estimates)
        for term, error in zip(terms, errors):
            self.assertAlmostEqual(term.standard_error, error, delta=1e-14 * error)
        until(lambda: f'{errors[1]:#.6g}' in self.get_texts(window))

        columns = {column.get_title(): column for column in window.view.get_columns()}
        window.view.sort_by_column(columns['estimate'], Gtk.SortType.ASCENDING)
        self.assertEqual([term.estimate for term in window.view.get_model()], [5, 10, 20])
        window.view.sort_by_column(columns['name'], Gtk.SortType.DESCENDING)
        self.assertEqual([term.name for term in window.view.get_model()], ['rooms', 'area', '(Intercept)'])

        area, rooms = self.find(window, Gtk.Entry)
        for texts, prediction in ((('70', ''), ''), (('70', '2'), 'rent: 730.00'), (('70', '2.5'), 'rent: 732.50'),
                                  (('70', 'two'), '')):
            area.set_text(texts[0])
            rooms.set_text(texts[1])
            self.assertEqual(window.prediction.get_label(), prediction)


application = program.application
application.register(None)
tap.main()

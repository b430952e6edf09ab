# SPDX-License-Identifier: LGPL-2.1-or-later
import contextlib
import sys

import gi

gi.require_versions({'Apr': '1.0', 'Gtk': '4.0'})
from gi.repository import Apr, Gio, GLib, GObject, Gtk  # noqa: E402

TARGET = 'rent'


def run(coroutine):
    """Has GLib's main loop run a coroutine."""
    with contextlib.suppress(StopIteration):
        coroutine.send(None).add_done_callback(lambda _: run(coroutine))


def create_column(name):
    """A column of the list of terms, whose properties have all there is."""
    def get(term):
        return term.get_property(name)

    factory = Gtk.SignalListItemFactory()
    factory.connect('setup', lambda _, item: item.set_child(Gtk.Label(xalign=0)))
    factory.connect('bind', lambda _, item: item.get_child().set_label(
        get(item.get_item()) if name == 'name' else f'{get(item.get_item()):#.6g}'))
    sorter = Gtk.CustomSorter.new(lambda term, other, _: (get(term) > get(other)) - (get(term) < get(other)))
    return Gtk.ColumnViewColumn(title=name, factory=factory, sorter=sorter)


class RentsWindow(Gtk.ApplicationWindow):
    def __init__(self, **props):
        super().__init__(title='Rents', default_width=640, default_height=480, visible=True, **props)
        self.bar = Gtk.ProgressBar()
        self.cancel = Gtk.Button(label='Cancel')
        self.view = Gtk.ColumnView(vexpand=True)
        for name in ('name', 'estimate', 'standard-error', 't-value', 'p-value', 'lower', 'upper'):
            self.view.append_column(create_column(name))
        self.features = Gtk.Box(spacing=12)
        self.prediction = Gtk.Label(xalign=0, selectable=True)
        self.set_child(Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12))
        for part in (self.bar, self.cancel, Gtk.ScrolledWindow(child=self.view), self.features, self.prediction):
            self.get_child().append(part)

    async def fit(self, file):
        """Adds the samples to the model as they are read, so that the file may be of any size."""
        cancellable = Gio.Cancellable()
        self.cancel.connect('clicked', lambda _: cancellable.cancel())
        try:
            model = Apr.LinearRegression()
            reader = Apr.TableReader.new_for_file(file, cancellable)
            reader.targets = [TARGET]
            reader.bind_property('progress', self.bar, 'fraction', GObject.BindingFlags.DEFAULT)
            while (rows := await reader.read_async(cancellable)) is not None:
                await model.partial_fit_async(*rows, cancellable)
            model.feature_names = reader.features
            self.show_model(model, await model.get_statistics_async(0, cancellable))
        except GLib.Error as error:
            self.prediction.set_label(error.message)
        self.cancel.set_sensitive(False)

    def show_model(self, model, statistics):
        """The sorted list, and an entry for each feature. The prediction follows what is typed."""
        def predict(_):
            self.prediction.set_label('')
            with contextlib.suppress(ValueError):
                self.prediction.set_label(f'{TARGET}: {model.predict_one([float(e.get_text()) for e in entries]):.2f}')

        self.view.set_model(Gtk.NoSelection.new(Gtk.SortListModel.new(statistics, self.view.get_sorter())))
        entries = [Gtk.Entry(placeholder_text=name) for name in model.feature_names]
        for entry in entries:
            self.features.append(entry)
            entry.connect('changed', predict)


application = Gtk.Application(application_id='org.example.Rents', flags=Gio.ApplicationFlags.HANDLES_OPEN)
application.connect('open', lambda self, files, *_: run(RentsWindow(application=self).fit(files[0])))
if __name__ == '__main__':
    application.run(sys.argv)

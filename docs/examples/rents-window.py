# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

import gi

gi.require_version('Apr', '1.0')
gi.require_version('Gtk', '4.0')
from gi.repository import Apr, Gio, GLib, GObject, Gtk  # noqa: E402

TARGET = 'rent'


def run(coroutine):
    """Has GLib's main loop run a coroutine."""
    def go_on(_=None):
        try:
            coroutine.send(None).add_done_callback(go_on)
        except StopIteration:
            pass

    go_on()


class RentsWindow(Gtk.ApplicationWindow):
    def __init__(self, **props):
        super().__init__(title='Rents', default_width=640, default_height=480, **props)
        self.model = Apr.LinearRegression()

        self.progress_bar = Gtk.ProgressBar(hexpand=True, valign=Gtk.Align.CENTER)
        self.cancel_button = Gtk.Button(label='Cancel', sensitive=False)
        self.cancel_button.connect('clicked', lambda _: self.cancellable.cancel())
        fitting = Gtk.Box(spacing=12)
        fitting.append(self.progress_bar)
        fitting.append(self.cancel_button)

        self.view = Gtk.ColumnView(vexpand=True)
        for name in ('name', 'estimate', 'standard-error', 't-value', 'p-value', 'lower', 'upper'):
            self.view.append_column(self.create_column(name))
        self.features = Gtk.Box(spacing=12)
        self.prediction = Gtk.Label(xalign=0, selectable=True)

        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12)
        for child in (fitting, Gtk.ScrolledWindow(child=self.view), self.features, self.prediction):
            box.append(child)
        self.set_child(box)

    def create_column(self, name):
        """A list of terms needs no code to be shown or sorted: their properties have all there is."""
        def bind(_, item):
            value = item.get_item().get_property(name)
            item.get_child().set_label(value if name == 'name' else f'{value:#.6g}')

        def compare(term, other, _):
            values = term.get_property(name), other.get_property(name)
            return (values[0] > values[1]) - (values[0] < values[1])

        factory = Gtk.SignalListItemFactory()
        factory.connect('setup', lambda _, item: item.set_child(Gtk.Label(xalign=0)))
        factory.connect('bind', bind)
        sorter = Gtk.CustomSorter.new(compare)
        return Gtk.ColumnViewColumn(title=name, factory=factory, sorter=sorter)

    async def fit(self, file):
        """Sums the samples up as they are read, so that the file may be of any size."""
        self.cancellable = Gio.Cancellable()
        self.cancel_button.set_sensitive(True)
        try:
            reader = Apr.TableReader.new_for_file(file, self.cancellable)
            reader.targets = [TARGET]
            reader.bind_property('progress', self.progress_bar, 'fraction', GObject.BindingFlags.DEFAULT)

            sums = None
            while (rows := await reader.read_async(self.cancellable)) is not None:
                X, y, _ = rows
                sums = sums or Apr.CrossProducts.new(X.shape[1], 1)
                await sums.update_async(X, y, cancellable=self.cancellable)
            if sums is None:
                raise ValueError(f'{reader.name} has no rows')
            sums.set_feature_names([name for name in reader.names if name != TARGET])
            await self.model.fit_cross_products_async(sums, self.cancellable)
            self.show_statistics(await self.model.get_statistics_async(0, self.cancellable))
            self.show_features()
        except (GLib.Error, ValueError) as error:
            self.prediction.set_label(getattr(error, 'message', str(error)))
        self.cancel_button.set_sensitive(False)

    def show_statistics(self, statistics):
        model = Gtk.SortListModel(model=statistics, sorter=self.view.get_sorter())
        self.view.set_model(Gtk.NoSelection(model=model))

    def show_features(self):
        """An entry for each feature. The prediction follows what is typed."""
        def predict(_):
            try:
                rent = self.model.predict_one([float(entry.get_text()) for entry in entries])
                self.prediction.set_label(f'{TARGET}: {rent:.2f}')
            except ValueError:
                self.prediction.set_label('')

        entries = [Gtk.Entry(placeholder_text=name) for name in self.model.feature_names]
        for entry in entries:
            self.features.append(entry)
            entry.connect('changed', predict)


def open_files(application, files, *_):
    window = RentsWindow(application=application)
    window.present()
    run(window.fit(files[0]))


application = Gtk.Application(application_id='org.example.Rents', flags=Gio.ApplicationFlags.HANDLES_OPEN)
application.connect('open', open_files)
if __name__ == '__main__':
    application.run(sys.argv)

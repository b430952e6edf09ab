/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GObject from 'gi://GObject';
import Gtk from 'gi://Gtk?version=4.0';

const TARGET = 'rent';

// A list of terms needs no code to be sorted: their properties have all there is.
function createColumn(name) {
  const factory = new Gtk.SignalListItemFactory();
  factory.connect('setup', (_, item) => item.set_child(new Gtk.Label({xalign: 0})));
  factory.connect('bind', (_, {child, item}) => child.set_label(item[name].toPrecision?.(6) ?? item[name]));
  const Sorter = name === 'name' ? Gtk.StringSorter : Gtk.NumericSorter;
  const sorter = Sorter.new(Gtk.PropertyExpression.new(Apr.Term, null, name));
  return new Gtk.ColumnViewColumn({title: name, factory, sorter});
}

const RentsWindow = GObject.registerClass(class RentsWindow extends Gtk.ApplicationWindow {
  _init(props) {
    super._init({title: 'Rents', default_width: 640, default_height: 480, visible: true, ...props});
    this.progressBar = new Gtk.ProgressBar();
    this.cancelButton = new Gtk.Button({label: 'Cancel'});
    this.list = new Gtk.ScrolledWindow({child: new Gtk.ColumnView({vexpand: true})});
    for (const name of ['name', 'estimate', 'standard-error', 't-value', 'p-value', 'lower', 'upper'])
      this.list.child.append_column(createColumn(name));
    this.features = new Gtk.Box({spacing: 12});
    this.prediction = new Gtk.Label({xalign: 0, selectable: true});
    this.child = new Gtk.Box({orientation: Gtk.Orientation.VERTICAL, spacing: 12});
    for (const part of [this.progressBar, this.cancelButton, this.list, this.features, this.prediction])
      this.child.append(part);
  }

  // Adds the samples to the model as they are read, so that the file may be of any size.
  async fit(file) {
    const cancellable = new Gio.Cancellable();
    this.cancelButton.connect('clicked', () => cancellable.cancel());
    try {
      const model = new Apr.LinearRegression();
      const reader = Apr.TableReader.new_for_file(file);
      reader.targets = [TARGET];
      reader.bind_property('progress', this.progressBar, 'fraction', GObject.BindingFlags.DEFAULT);
      for (let rows; (rows = await reader.read_async(cancellable)) !== null;)
        await model.partial_fit_async(rows[0], rows[1], null, cancellable);
      model.feature_names = reader.features;
      this.showModel(model, await model.get_statistics_async(0, cancellable));
    } catch (error) {
      this.prediction.label = error.message;
    }
    this.cancelButton.sensitive = false;
  }

  // The sorted list, and an entry for each feature. The prediction follows what is typed.
  showModel(model, statistics) {
    const view = this.list.child;
    view.model = new Gtk.NoSelection({model: Gtk.SortListModel.new(statistics, view.sorter)});
    const entries = model.feature_names.map(name => new Gtk.Entry({placeholder_text: name}));
    for (const entry of entries) {
      this.features.append(entry);
      entry.connect('changed', () => {
        const numbers = entries.map(({text}) => text.trim() === '' ? NaN : Number(text));
        this.prediction.label = numbers.every(Number.isFinite) ? `${TARGET}: ${model.predict_one(numbers).toFixed(2)}` : '';
      });
    }
  }
});

const app = new Gtk.Application({application_id: 'org.example.Rents', flags: Gio.ApplicationFlags.HANDLES_OPEN});
app.connect('open', (_, [file]) => new RentsWindow({application: app}).fit(file));
app.run(['rents-window', ...ARGV]);

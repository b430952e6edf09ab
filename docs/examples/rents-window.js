/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GObject from 'gi://GObject';
import Gtk from 'gi://Gtk?version=4.0';
import {programArgs} from 'system';

const TARGET = 'rent';

const RentsWindow = GObject.registerClass(class RentsWindow extends Gtk.ApplicationWindow {
  _init(props) {
    super._init({title: 'Rents', default_width: 640, default_height: 480, ...props});
    this.model = new Apr.LinearRegression();

    this.progressBar = new Gtk.ProgressBar({hexpand: true, valign: Gtk.Align.CENTER});
    this.cancelButton = new Gtk.Button({label: 'Cancel', sensitive: false});
    this.cancelButton.connect('clicked', () => this.cancellable.cancel());
    const fitting = new Gtk.Box({spacing: 12});
    fitting.append(this.progressBar);
    fitting.append(this.cancelButton);

    this.view = new Gtk.ColumnView({vexpand: true});
    for (const name of ['name', 'estimate', 'standard-error', 't-value', 'p-value', 'lower', 'upper'])
      this.view.append_column(this.createColumn(name));

    this.features = new Gtk.Box({spacing: 12});
    this.prediction = new Gtk.Label({xalign: 0, selectable: true});

    const box = new Gtk.Box({orientation: Gtk.Orientation.VERTICAL, spacing: 12});
    for (const child of [fitting, new Gtk.ScrolledWindow({child: this.view}), this.features, this.prediction])
      box.append(child);
    this.set_child(box);
  }

  // A list of terms needs no code to be shown or sorted: their properties have all there is.
  createColumn(name) {
    const factory = new Gtk.SignalListItemFactory();
    factory.connect('setup', (_, item) => item.set_child(new Gtk.Label({xalign: 0})));
    factory.connect('bind', (_, {child, item}) => {
      child.label = name === 'name' ? item.name : item[name].toPrecision(6);
    });

    const expression = Gtk.PropertyExpression.new(Apr.Term, null, name);
    const sorter = name === 'name' ? Gtk.StringSorter.new(expression) : Gtk.NumericSorter.new(expression);
    return new Gtk.ColumnViewColumn({title: name, factory, sorter});
  }

  // Sums the samples up as they are read, so that the file may be of any size.
  async fit(file) {
    this.cancellable = new Gio.Cancellable();
    this.cancelButton.sensitive = true;
    try {
      const reader = Apr.TableReader.new_for_file(file);
      reader.targets = [TARGET];
      reader.bind_property('progress', this.progressBar, 'fraction', GObject.BindingFlags.DEFAULT);

      let sums = null;
      for (let rows; (rows = await reader.read_async(this.cancellable)) !== null;) {
        const [x, y] = rows;
        sums ??= Apr.CrossProducts.new(x.shape[1], 1);
        await sums.update_async(x, y, null, this.cancellable);
      }
      if (sums === null)
        throw new Error(`${reader.name} has no rows`);
      sums.set_feature_names(reader.names.filter(name => name !== TARGET));
      await this.model.fit_cross_products_async(sums, this.cancellable);
      this.showStatistics(await this.model.get_statistics_async(0, this.cancellable));
      this.showFeatures();
    } catch (error) {
      this.prediction.label = error.message;
    }
    this.cancelButton.sensitive = false;
  }

  showStatistics(statistics) {
    const model = new Gtk.SortListModel({model: statistics, sorter: this.view.sorter});
    this.view.model = new Gtk.NoSelection({model});
  }

  // An entry for each feature. The prediction follows what is typed.
  showFeatures() {
    const entries = this.model.feature_names.map(name => new Gtk.Entry({placeholder_text: name}));
    for (const entry of entries) {
      this.features.append(entry);
      entry.connect('changed', () => {
        const numbers = entries.map(({text}) => text === '' ? NaN : Number(text));
        this.prediction.label = numbers.some(isNaN)
          ? '' : `${TARGET}: ${this.model.predict_one(numbers).toFixed(2)}`;
      });
    }
  }
});

const flags = Gio.ApplicationFlags.HANDLES_OPEN;
const application = new Gtk.Application({application_id: 'org.example.Rents', flags});
application.connect('open', (_, [file]) => {
  const window = new RentsWindow({application});
  window.present();
  window.fit(file);
});
application.run(['rents-window', ...programArgs]);

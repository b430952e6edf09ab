/* SPDX-License-Identifier: LGPL-2.1-or-later */
// Uses rents-window.js as a user would, and prints how long its main loop had no turn; test-window.js runs both.
//
// The file of the argument is written here: rents that depend on area and rooms exactly, and on noise that is -1 and 1
// equally often for each of four kinds of flats. So all statistics are known: the design is balanced.
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gtk from 'gi://Gtk?version=4.0';
import {programArgs} from 'system';

import {assertClose, assertEqual, assertTrue, run, test} from '../../bindings/gjs/tests/tap.js';

const N_ROWS = 8 * Math.floor(Number(GLib.getenv('APRENDER_TEST_ROWS') ?? 800000) / 8);
const FLATS = [[50, 1], [50, 3], [150, 1], [150, 3]];

const file = Gio.File.new_for_commandline_arg(programArgs[0]);
const rows = [-1, 1].flatMap(noise => FLATS.map(([area, rooms]) =>
  `${area},${rooms},${20 + 10 * area + 5 * rooms + noise}\n`));
file.replace_contents(new TextEncoder().encode(`area,rooms,rent\n${rows.join('').repeat(N_ROWS / 8)}`), null, false,
  Gio.FileCreateFlags.NONE, null);

const [estimates, deviation] = [[20, 10, 5], Math.sqrt(N_ROWS / (N_ROWS - 3))];
const errors = [Math.sqrt(1 + (100 / 50) ** 2 + (2 / 1) ** 2), 1 / 50, 1].map(factor =>
  factor * deviation / Math.sqrt(N_ROWS));

// The most that the main loop's thread may compute between two turns in a benchmark, in milliseconds; a test has no clock.
const BAR = Number(GLib.getenv('APRENDER_WINDOW_BAR') ?? Infinity);

// What this thread has computed, in microseconds, whatever else the machine does.
function getProcessorTime() {
  const [, contents] = GLib.file_get_contents('/proc/thread-self/schedstat');
  return Number(new TextDecoder().decode(contents).split(' ')[0]) / 1000;
}

// The longest time between two turns of a timer, which the main loop takes each millisecond that it has.
const watch = {
  last: 0,
  lastComputed: 0,
  longest: 0,
  mostComputed: 0,
  tooLong: [],
  turn() {
    const now = GLib.get_monotonic_time();
    const computed = getProcessorTime();
    this.longest = Math.max(this.longest, now - this.last);
    this.mostComputed = Math.max(this.mostComputed, computed - this.lastComputed);
    [this.last, this.lastComputed] = [now, computed];
  },
  // What GTK computes to open a window is not ours.
  report(what, bar = BAR) {
    const computed = this.mostComputed / 1000;
    print(`# ${what}: longest gap of the main loop ${(this.longest / 1000).toFixed(1)} ms, of which it computes at most ` +
      `${computed.toFixed(1)} ms`);
    this.longest = this.mostComputed = 0;
    if (computed > bar)
      this.tooLong.push(`${what}: ${computed} ms`);
  },
};

function takeTurn() {
  return new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => resolve()));
}

async function until(condition) {
  while (!condition())
    await takeTurn();
}

// Lets the main loop draw what has changed.
async function draw() {
  for (let nTurns = 0; nTurns < 50; nTurns++)
    await takeTurn();
}

function* descendants(widget) {
  for (let child = widget.get_first_child(); child !== null; child = child.get_next_sibling()) {
    yield child;
    yield* descendants(child);
  }
}

const find = (window, type, accept = () => true) =>
  [...descendants(window)].filter(child => child instanceof type && accept(child));
const findTexts = window => find(window, Gtk.Label).map(({label}) => label);
const getWindow = () => Gio.Application.get_default()?.active_window;

test('cancel', async () => {
  await until(getWindow);
  const window = getWindow();
  const [button] = find(window, Gtk.Button, ({label}) => label === 'Cancel');

  watch.report('opening the window', Infinity);
  assertTrue(button.sensitive);
  button.emit('clicked');
  const clicked = GLib.get_monotonic_time();
  await until(() => !button.sensitive);
  watch.report(`cancelling in ${((GLib.get_monotonic_time() - clicked) / 1000).toFixed(1)} ms`);
  assertTrue(findTexts(window).some(text => text.includes('cancelled')));
  assertEqual(find(window, Gtk.Entry).length, 0);
  assertEqual(find(window, Gtk.ColumnView)[0].model, null);
  window.destroy();
});

test('fit', async () => {
  const application = Gio.Application.get_default();
  const fractions = [];

  application.open([file], '');
  const window = getWindow();
  const [bar] = find(window, Gtk.ProgressBar);
  const [button] = find(window, Gtk.Button, ({label}) => label === 'Cancel');
  bar.connect('notify::fraction', () => fractions.push(bar.fraction));
  await until(() => fractions.length > 1);
  watch.report('opening another window, and the fit begins', Infinity);
  await until(() => !button.sensitive);
  watch.report(`fitting ${N_ROWS} rows`);

  assertTrue(fractions.length > 2);
  assertEqual(fractions, [...fractions].sort((a, b) => a - b));
  assertEqual(fractions.at(-1), 1);
});

test('statistics', async () => {
  const [view] = find(getWindow(), Gtk.ColumnView);
  const terms = () => Array.from({length: view.model.get_n_items()}, (_, i) => view.model.get_item(i));

  assertEqual(terms().map(({name}) => name), ['(Intercept)', 'area', 'rooms']);
  terms().forEach((term, i) => {
    assertTrue(term instanceof Apr.Term);
    assertEqual(term.estimate, estimates[i]);
    assertClose(term.standard_error, errors[i], 1e-14 * errors[i]);
  });
  await until(() => findTexts(getWindow()).includes('rooms'));
  await draw();
  watch.report('showing statistics');
  assertTrue(findTexts(getWindow()).includes(errors[1].toPrecision(6)));

  const columns = Array.from({length: view.columns.get_n_items()}, (_, i) => view.columns.get_item(i));
  view.sort_by_column(columns.find(({title}) => title === 'estimate'), Gtk.SortType.ASCENDING);
  assertEqual(terms().map(({estimate}) => estimate), [5, 10, 20]);
  view.sort_by_column(columns.find(({title}) => title === 'name'), Gtk.SortType.DESCENDING);
  assertEqual(terms().map(({name}) => name), ['rooms', 'area', '(Intercept)']);
  await draw();
  watch.report('sorting');
});

test('predict', async () => {
  const window = getWindow();
  const [area, rooms] = find(window, Gtk.Entry);

  area.text = '70';
  assertTrue(!findTexts(window).some(label => label.startsWith('rent:')));
  rooms.text = '2';
  assertTrue(findTexts(window).includes('rent: 730.00'));
  rooms.text = '2.5';
  assertTrue(findTexts(window).includes('rent: 732.50'));
  for (const text of ['two', '1e999', 'Infinity', ' ', '3,5']) {
    rooms.text = '2.5';
    assertTrue(findTexts(window).includes('rent: 732.50'));
    rooms.text = text;
    assertTrue(!findTexts(window).some(label => label.startsWith('rent:')), text);
  }
  await draw();
  watch.report('typing');
});

test('gaps', () => {
  assertEqual(watch.tooLong, []);
});

GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
  watch.turn();
  return GLib.SOURCE_CONTINUE;
});
[watch.last, watch.lastComputed] = [GLib.get_monotonic_time(), getProcessorTime()];
GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
  run().then(() => Gio.Application.get_default().quit());
  return GLib.SOURCE_REMOVE;
});

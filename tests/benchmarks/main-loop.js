/* SPDX-License-Identifier: LGPL-2.1-or-later */
// gjs -m main-loop.js [MEGABYTES]: the longest time in which the main loop has no turn while arrays are handed over,
// and the most processor time that the main thread has between two turns, to which other processes do not add.
import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import {programArgs} from 'system';

const N_COLUMNS = 10;
const megabytes = Number(programArgs[0] ?? 440);

// Of the main thread, in microseconds.
function getProcessorTime() {
  const [, contents] = GLib.file_get_contents('/proc/self/schedstat');
  return Number(new TextDecoder().decode(contents).split(' ')[0]) / 1000;
}

// A timer of one millisecond notes how late it comes.
async function measure(name, body) {
  let longest = 0;
  let longestHeld = 0;
  let last = GLib.get_monotonic_time();
  let lastHeld = getProcessorTime();
  const start = last;
  const takeTurn = () => {
    const now = GLib.get_monotonic_time();
    const held = getProcessorTime();
    longest = Math.max(longest, now - last);
    longestHeld = Math.max(longestHeld, held - lastHeld);
    [last, lastHeld] = [now, held];
    return GLib.SOURCE_CONTINUE;
  };
  const id = GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, takeTurn);

  await body();
  takeTurn();
  GLib.source_remove(id);
  print(`${name}: longest gap ${(longest / 1000).toFixed(1)} ms of ${((last - start) / 1000).toFixed(0)} ms, of the ` +
    `processor's time ${(longestHeld / 1000).toFixed(1)} ms`);
}

const n = Math.floor(megabytes * 1e6 / 8 / N_COLUMNS);
const X = new Float64Array(n * N_COLUMNS);
for (let i = 0; i < X.length; i++)
  X[i] = (i * 2654435761 % 4294967296) / 4294967296;
const y = Float64Array.from({length: n}, (_, i) => 1 + X[N_COLUMNS * i]);
Object.defineProperty(X, 'shape', {value: [n, N_COLUMNS]});

const model = new Apr.LinearRegression();
// What the machine and the fit alone cost, without an array to hand over.
const tensors = [Apr.Tensor.from(X), Apr.Tensor.from(y)];
await measure('fit_async of tensors', () => model.fit_async(...tensors));
await measure(`fit_async, ${n} x ${N_COLUMNS} in a typed array`, () => model.fit_async(X, y));
const rows = Array.from({length: Math.min(n, 1000000)}, (_, i) => X.subarray(N_COLUMNS * i, N_COLUMNS * (i + 1)));
await measure(`fit_async, ${rows.length} x ${N_COLUMNS} in arrays of rows`,
  () => model.fit_async(rows, y.subarray(0, rows.length)));

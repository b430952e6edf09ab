/* SPDX-License-Identifier: LGPL-2.1-or-later */
// Tests that speak TAP: name them with test(), then await run(), which prints the plan before it starts, so
// that one that never ends is missed.

import GLib from 'gi://GLib';
import Gio from 'gi://Gio';
import System from 'system';

const TIMEOUT_SECONDS = 120;

const tests = [];

export function test(name, body) {
  tests.push({name, body});
}

function isTypedArray(value) {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

// Exact: 0 is not -0, NaN is NaN, and a typed array is not an array.
function isSame(a, b) {
  if (Object.is(a, b))
    return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return false;
  if (a.constructor !== b.constructor)
    return false;
  if (Array.isArray(a) || isTypedArray(a))
    return a.length === b.length && Array.from(a).every((value, i) => isSame(value, b[i]));
  if (a.constructor === Object)
    return isSame(Object.keys(a), Object.keys(b)) && Object.keys(a).every(key => isSame(a[key], b[key]));
  return false;
}

function show(value) {
  if (Array.isArray(value))
    return `[${value.map(show).join(', ')}]`;
  if (isTypedArray(value))
    return `${value.constructor.name} [${Array.from(value).join(', ')}]`;
  if (value?.constructor === Object)
    return `{${Object.entries(value).map(([key, entry]) => `${key}: ${show(entry)}`).join(', ')}}`;
  return typeof value === 'string' ? JSON.stringify(value) : Object.is(value, -0) ? '-0' : String(value);
}

export function assertTrue(value, message = 'Expected something true') {
  if (!value)
    throw new Error(message);
}

export function assertEqual(actual, expected, message = 'Values differ') {
  if (!isSame(actual, expected))
    throw new Error(`${message}: ${show(actual)}, but expected ${show(expected)}`);
}

export function assertClose(actual, expected, tolerance, message = 'Values differ') {
  if (!(Math.abs(actual - expected) <= tolerance))
    throw new Error(`${message}: ${actual}, but expected ${expected} within ${tolerance}`);
}

function checkError(error, type, code, message) {
  if (!(error instanceof type) || (code !== null && !error.matches(type, code)))
    throw error;
  if (message !== null && !error.message.includes(message))
    throw new Error(`Expected an error with “${message}”, but it says “${error.message}”`);
}

// The error itself is thrown on where it is not of the type and code that are asked for.
export function assertThrows(body, type, code = null, message = null) {
  try {
    body();
  } catch (error) {
    checkError(error, type, code, message);
    return;
  }
  throw new Error(`Nothing was thrown, but expected ${message ?? type.name}`);
}

export async function assertRejects(promise, type, code = null, message = null) {
  try {
    await promise;
  } catch (error) {
    checkError(error, type, code, message);
    return;
  }
  throw new Error(`Nothing was thrown, but expected ${message ?? type.name}`);
}

// Calls body with the path of a file that is not there yet, and that is removed in the end.
export function withPath(body) {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const file = directory.get_child('model.safetensors');

  try {
    return body(file.get_path());
  } finally {
    if (file.query_exists(null))
      file.delete(null);
    directory.delete(null);
  }
}

export function readFile(path) {
  return Gio.File.new_for_path(path).load_contents(null)[1];
}

export function writeFile(path, bytes) {
  Gio.File.new_for_path(path).replace_contents(bytes, null, false, Gio.FileCreateFlags.NONE, null);
}

function makeBytes(size, values, set) {
  const view = new DataView(new ArrayBuffer(size * values.length));

  values.forEach((value, i) => view[set](i * size, value, true));
  return new Uint8Array(view.buffer);
}

// Numbers as they stand in a file, whatever machine this is.
export const float32Bytes = (...values) => makeBytes(4, values, 'setFloat32');
export const float64Bytes = (...values) => makeBytes(8, values, 'setFloat64');

// The bytes of a SafeTensors file whose header is just as given.
export function makeFile(header, ...tensors) {
  const json = new TextEncoder().encode(header);
  const parts = [makeBytes(8, [BigInt(json.length)], 'setBigUint64'), json, ...tensors];

  return Uint8Array.from(parts.flatMap(part => [...part]));
}

// What a file's header says.
export function parseHeader(bytes) {
  const length = Number(new DataView(bytes.slice(0, 8).buffer).getBigUint64(0, true));

  return {length, header: JSON.parse(new TextDecoder().decode(bytes.slice(8, 8 + length)))};
}

// Numbers in [0, 1) that are the same in every run (mulberry32).
export function makeRandom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let bits = Math.imul(seed ^ (seed >>> 15), seed | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

export async function run() {
  let nFailed = 0;

  print(`1..${tests.length}`);
  for (const [i, {name, body}] of tests.entries()) {
    const timeout = GLib.timeout_add_seconds(GLib.PRIORITY_HIGH, TIMEOUT_SECONDS, () => {
      print(`Bail out! ${name} did not end`);
      System.exit(1);
    });

    try {
      await body();
      print(`ok ${i + 1} ${name}`);
    } catch (error) {
      nFailed++;
      print(`not ok ${i + 1} ${name}`);
      print(`${error}\n${error?.stack ?? ''}`.trim().replace(/^/gm, '# '));
    }
    GLib.source_remove(timeout);
  }

  if (nFailed > 0)
    System.exit(1);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';

import {assertRejects, assertThrows, assertTrue, run, test, withPath} from './tap.js';

// The methods and functions that take a string, by the description that the build makes of the library.
function listStringArguments() {
  const folder = GLib.getenv('GI_TYPELIB_PATH').split(':')[0];
  const file = Gio.File.new_for_path(folder).get_child('Apr-1.0.gir');
  const gir = new TextDecoder().decode(file.load_contents(null)[1]);
  const found = [];
  const types = /<(?:class|record|enumeration) name="(\w+)"(.*?)<\/(?:class|record|enumeration)>/gs;

  for (const [, typeName, body] of [...gir.matchAll(types), [null, null, gir.replace(types, '')]]) {
    for (const [, kind, name, attributes, inner] of
      body.matchAll(/<(method|function|constructor) name="(\w+)"([^>]*)>(.*?)<\/\1>/gs)) {
      if (attributes.includes('introspectable="0"'))
        continue;
      const parameters = [...inner.matchAll(/<parameter name="\w+"(.*?)<\/parameter>/gs)].map(([, text]) => text)
        .filter(text => !text.includes('direction="out"'));
      const positions = parameters.flatMap((text, i) => /<type name="(utf8|filename)"/.test(text) ? [i] : []);
      const type = typeName === null ? Apr : Apr[typeName];
      const object = kind === 'method' ? type?.prototype : type;
      if (positions.length > 0 && typeof object?.[name] === 'function')
        found.push({where: `${typeName ?? 'Apr'}.${name}`, object, name, positions, parameters});
    }
  }
  return found;
}

test('every-string-with-a-nul-is-refused', () => {
  const methods = listStringArguments();
  assertTrue(methods.length >= 20, `only ${methods.length} methods take strings`);
  assertTrue(methods.some(({where}) => where === 'Apr.dtype_from_string'));
  for (const {where, object, name, positions, parameters} of methods) {
    for (const position of positions) {
      for (const string of ['a\0b', 'a\0', '\0']) {
        const value = parameters[position].includes('<array') ? ['a', string] : string;
        for (const type of [Apr.LinearRegression, Apr.LinearRegression.$gtype]) {
          const args = parameters.map(text => text.includes('name="GType"') ? type : undefined);
          args[position] = value;
          assertThrows(() => object[name](...args), TypeError, null, 'has a NUL: ', where);
        }
      }
    }
  }
});

// All properties that hold strings and can be written: their classes, and whether they are lists.
function listStringProperties() {
  // Those of an abstract class are its subclasses' too.
  const types = Object.keys(Apr).map(name => Apr[name]).filter(type => type?.prototype instanceof GObject.Object &&
    !GObject.type_test_flags(type.$gtype, GObject.TypeFlags.ABSTRACT));
  return types.flatMap(type => GObject.Object.list_properties.call(type).map(pspec => ({type, pspec})))
    .filter(({pspec: {flags, value_type: {name}}}) =>
      flags & GObject.ParamFlags.WRITABLE && (name === 'gchararray' || name === 'GStrv'))
    .map(({type, pspec}) => ({type, pspec, isList: pspec.value_type.name === 'GStrv'}));
}

test('every-property-with-a-nul-is-refused', () => {
  const properties = listStringProperties();
  const found = properties.map(({type, pspec}) => `${type.name}.${pspec.name}`.replace(/^Apr_/, ''));
  for (const name of ['name', 'delimiter', 'targets', 'features', 'weight'])
    assertTrue(found.includes(`TableReader.${name}`), `${name}: ${found}`);

  for (const {type, pspec: {name, flags}, isList} of properties) {
    const camel = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
    for (const key of [name, name.replaceAll('-', '_'), camel]) {
      for (const string of ['a\0b', 'a\0', '\0']) {
        const value = isList ? ['a', string] : string;
        const where = `${type.name}.${key}`;
        const object = new type();
        const before = String(object[key]);
        const ways = [() => new type({[key]: value}), () => GObject.Object.new(type, {[key]: value})];
        if (!(flags & GObject.ParamFlags.CONSTRUCT_ONLY)) {
          ways.push(() => {
            object[key] = value;
          }, () => object.set({[key]: value}), () => object.set_property(key, value));
        }
        ways.forEach(way => assertThrows(way, TypeError, null, 'has a NUL: ', where));
        assertTrue(String(object[key]) === before, where);
      }
    }
  }
});

test('names-of-properties-are-strings', () => {
  for (const {type} of listStringProperties()) {
    const object = new type();
    for (const [name, shown] of [[null, 'null'], [undefined, 'undefined'], [7, '7'], [['name'], 'an array'], [{}, 'an Object'],
      [Symbol('name'), 'a Symbol']]) {
      assertThrows(() => object.set_property(name, 'x'), TypeError, null,
        `The name in set_property must be a string, not ${shown}`, type.name);
    }
  }
});

// What takes as long as data are big: C has a priority before the cancellable, scripts have none.
test('asynchronous-methods-take-no-priority', async () => {
  const writer = new Apr.SafetensorsWriter();
  const file = Gio.File.new_for_path(GLib.get_tmp_dir()).get_child('never-written');
  const cancellable = new Gio.Cancellable();
  writer.add_tensor('a', [1]);
  const bytes = await writer.write_to_bytes_async();
  const reader = Apr.SafetensorsReader.new_from_bytes(bytes);
  cancellable.cancel();
  for (const [name, call] of [
    ['write_to_bytes', () => writer.write_to_bytes_async(cancellable)],
    ['write_to_file', () => writer.write_to_file_async(file, cancellable)],
    ['write_to_stream', () => writer.write_to_stream_async(Gio.MemoryOutputStream.new_resizable(), cancellable)],
    ['write_shards', () => writer.write_shards_async(file.get_parent(), 'a', 1, cancellable)],
    ['new_from_file', () => Apr.SafetensorsReader.new_from_file_async(file, cancellable)],
    ['get_tensor', () => reader.get_tensor_async('a', cancellable)],
    ['get_slice', () => reader.get_slice_async('a', '0', cancellable)],
  ])
    await assertRejects(call(), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED, '', name);
});

test('no-file-is-written', () => withPath(path => {
  const model = new Apr.LinearRegression().fit([[1], [2]], [1, 2]);
  const writer = new Apr.SafetensorsWriter();
  assertThrows(() => model.save(`${path}\0b`), TypeError, null, 'The path has a NUL');
  assertThrows(() => writer.write_to_path(`${path}\0b`), TypeError, null, 'The path has a NUL');
  assertTrue(!Gio.File.new_for_path(path).query_exists(null));
}));

await run();

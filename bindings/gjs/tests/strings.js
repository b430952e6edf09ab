/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

import {assertThrows, assertTrue, run, test, withPath} from './tap.js';

// The methods that take a string, by the description that the build makes of the library: [object, name, positions].
function listStringArguments() {
  const folder = GLib.getenv('GI_TYPELIB_PATH').split(':')[0];
  const file = Gio.File.new_for_path(folder).get_child('Apr-1.0.gir');
  const gir = new TextDecoder().decode(file.load_contents(null)[1]);
  const found = [];

  for (const [, typeName, body] of gir.matchAll(/<(?:class|record|enumeration) name="(\w+)"(.*?)<\/(?:class|record|enumeration)>/gs)) {
    for (const [, kind, name, attributes, inner] of
      body.matchAll(/<(method|function|constructor) name="(\w+)"([^>]*)>(.*?)<\/\1>/gs)) {
      if (attributes.includes('introspectable="0"'))
        continue;
      const parameters = [...inner.matchAll(/<parameter name="\w+"(.*?)<\/parameter>/gs)].map(([, text]) => text)
        .filter(text => !text.includes('direction="out"'));
      const positions = parameters.flatMap((text, i) => /<type name="(utf8|filename)"/.test(text) ? [i] : []);
      const type = Apr[typeName];
      const object = kind === 'method' ? type?.prototype : type;
      if (positions.length > 0 && typeof object?.[name] === 'function')
        found.push({where: `${typeName}.${name}`, object, name, positions, parameters});
    }
  }
  return found;
}

test('every-string-with-a-nul-is-refused', () => {
  const methods = listStringArguments();
  assertTrue(methods.length >= 20, `only ${methods.length} methods take strings`);
  for (const {where, object, name, positions, parameters} of methods) {
    for (const position of positions) {
      for (const string of ['a\0b', 'a\0', '\0']) {
        const value = parameters[position].includes('<array') ? ['a', string] : string;
        const args = parameters.map((text, i) => text.includes('name="GType"') ? Apr.LinearRegression : undefined);
        args[position] = value;
        assertThrows(() => object[name](...args), TypeError, null, 'has a NUL: ', where);
      }
    }
  }
});

test('no-file-is-written', () => withPath(path => {
  const model = new Apr.LinearRegression().fit([[1], [2]], [1, 2]);
  const writer = new Apr.SafetensorsWriter();
  assertThrows(() => model.save(`${path}\0b`), TypeError, null, 'The path has a NUL');
  assertThrows(() => writer.write_to_path(`${path}\0b`), TypeError, null, 'The path has a NUL');
  assertTrue(!Gio.File.new_for_path(path).query_exists(null));
}));

await run();

/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

import {assertTrue, run, test} from './tap.js';

// GJS refuses these arguments before any code of the library runs, so that only the guide can say what the message
// means. It is run without the override.
test('guide-has-the-messages', () => {
  const here = Gio.File.new_for_uri(import.meta.url).get_parent();
  const [, bytes] = here.resolve_relative_path('../../../docs/gnome.md').load_contents(null);
  const guide = new TextDecoder().decode(bytes);
  const [, section] = guide.split('## Where the override is missing');
  const X = [[1], [2]];
  const y = [1, 2];

  assertTrue(Apr.Tensor.from === undefined, 'an override is installed');
  assertTrue(section.includes('Apr.Tensor.from === undefined'));
  for (const [call, expected] of [
    [() => new Apr.LinearRegression().fit(X, y), message => message],
    [() => new Apr.LinearRegression().fit_async(X, y), message => message],
    [() => new Apr.LinearRegression().predict(X), message => message.replace(/0x[0-9a-f]+/, '0x…')],
    [() => Apr.Tensor.from(X), message => message.replace(/^.*(Tensor)/, '$1')],
  ]) {
    let message = null;
    try {
      call();
    } catch (error) {
      ({message} = error);
    }
    assertTrue(section.includes(`\`${expected(message)}\``), `the guide does not have “${expected(message)}”`);
  }
});

await run();

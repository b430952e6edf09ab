/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.TableReader. What is read are X, y and the weights of the next rows, or null at the end.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {TableReader} = Apr;
  const {collectGarbage, countTensor, letOmitCancellable, promisify, promisifySimple} = functions;

  letOmitCancellable(TableReader, 'new_for_file', 1);
  for (const [name, nArguments] of [['read_names', 0], ['read_categories', 1]]) {
    letOmitCancellable(TableReader.prototype, name, nArguments);
    promisifySimple(TableReader.prototype, name, nArguments);
  }

  const {read: readRows} = TableReader.prototype;
  TableReader.prototype.read = function (cancellable = null) {
    collectGarbage();
    const [hasRows, ...tensors] = readRows.call(this, cancellable);
    return hasRows ? tensors.map(countTensor) : null;
  };

  const readAsync = promisify(TableReader.prototype, 'read');
  TableReader.prototype.read_async = async function (cancellable = null) {
    const tensors = await readAsync.call(this, PRIORITY, cancellable);
    // GJS leaves out that there are rows, but not that there are none.
    return tensors[0] === false ? null : tensors.map(countTensor);
  };

  TableReader.prototype[Symbol.iterator] = function* () {
    for (let rows; (rows = this.read()) !== null;)
      yield rows;
  };

  TableReader.prototype[Symbol.asyncIterator] = async function* () {
    for (let rows; (rows = await this.read_async()) !== null;)
      yield rows;
  };
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.TableReader. What is read are X, y and the weights of the next rows, or null at the end.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {TableReader} = Apr;
  const {collectGarbage, countTensor, promisify} = functions;

  const newForFile = TableReader.new_for_file;
  TableReader.new_for_file = function (file, cancellable = null) {
    return newForFile.call(this, file, cancellable);
  };

  const {read_names: readNames, read: readRows} = TableReader.prototype;
  TableReader.prototype.read_names = function (cancellable = null) {
    return readNames.call(this, cancellable);
  };
  const readNamesAsync = promisify(TableReader.prototype, 'read_names');
  TableReader.prototype.read_names_async = function (cancellable = null) {
    return readNamesAsync.call(this, PRIORITY, cancellable);
  };
  TableReader.prototype.read = function (cancellable = null) {
    collectGarbage();
    const [hasRows, ...tensors] = readRows.call(this, cancellable);
    return hasRows ? tensors.map(countTensor) : null;
  };

  const {read_categories: readCategories} = TableReader.prototype;
  TableReader.prototype.read_categories = function (columns, cancellable = null) {
    return readCategories.call(this, columns, cancellable);
  };
  const readCategoriesAsync = promisify(TableReader.prototype, 'read_categories');
  TableReader.prototype.read_categories_async = function (columns, cancellable = null) {
    return readCategoriesAsync.call(this, columns, PRIORITY, cancellable);
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

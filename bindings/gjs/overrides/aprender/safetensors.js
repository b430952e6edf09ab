/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.SafetensorsReader and Apr.SafetensorsWriter.

const {GLib} = imports.gi;

function extend(Apr, functions) {
  const {SafetensorsReader, SafetensorsWriter} = Apr;
  const {checkShape, convertProperties, defineGetter, letOmitCancellable, promisifySimple, readEnum, toTensor} = functions;

  convertProperties(SafetensorsReader, {load_mode: mode => readEnum(Apr.SafetensorsLoadMode, mode, 'load_mode')});

  for (const name of ['new_from_file', 'new_from_stream'])
    letOmitCancellable(SafetensorsReader, name, 1);
  promisifySimple(SafetensorsReader, 'new_from_file', 1);
  promisifySimple(SafetensorsReader.prototype, 'get_tensor', 1);
  promisifySimple(SafetensorsReader.prototype, 'get_slice', 2);

  // A reader that was made with properties opens its file when it is first used, and that is where the error comes from.
  for (const name of ['get_names', 'get_names_in_file_order', 'has_tensor', 'get_dtype', 'get_shape', 'get_size',
    'get_offset', 'get_tensor', 'get_slice', 'get_tensor_async', 'get_slice_async', 'get_metadata',
    'get_metadata_keys']) {
    const method = SafetensorsReader.prototype[name];
    SafetensorsReader.prototype[name] = function (...args) {
      this.init(null);
      return method.apply(this, args);
    };
  }

  SafetensorsReader.prototype[Symbol.iterator] = function () {
    return this.get_names()[Symbol.iterator]();
  };

  // GJS 1.74 decodes the keys of a hash table as Latin-1.
  const [probe] = Object.keys(GLib.Uri.parse_params('é=', -1, '&', GLib.UriParamsFlags.NONE));
  const fixKey = probe === 'é'
    ? key => key
    : key => new TextDecoder().decode(Uint8Array.from(key, character => character.charCodeAt(0)));

  defineGetter(SafetensorsReader.prototype, 'metadata', function () {
    const entries = Object.entries(this.get_metadata()).map(([key, value]) => [fixKey(key), value]);
    return Object.fromEntries(entries.sort(([a], [b]) => GLib.strcmp0(a, b)));
  });

  const addTensor = SafetensorsWriter.prototype.add_tensor;
  SafetensorsWriter.prototype.add_tensor = function (name, tensor) {
    return addTensor.call(this, name, toTensor(tensor, `The tensor “${name}”`));
  };

  const declareTensor = SafetensorsWriter.prototype.declare_tensor;
  SafetensorsWriter.prototype.declare_tensor = function (name, dtype, shape) {
    return declareTensor.call(this, name, readEnum(Apr.DType, dtype, 'dtype'), checkShape(shape));
  };

  for (const [name, nArguments] of [['write_to_file', 1], ['write_to_stream', 1], ['write_shards', 3]]) {
    letOmitCancellable(SafetensorsWriter.prototype, name, nArguments);
    promisifySimple(SafetensorsWriter.prototype, name, nArguments);
  }
  promisifySimple(SafetensorsWriter.prototype, 'write_to_bytes', 0);
}

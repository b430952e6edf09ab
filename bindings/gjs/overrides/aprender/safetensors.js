/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.SafetensorsReader and Apr.SafetensorsWriter.

const {Gio, GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {SafetensorsReader, SafetensorsWriter} = Apr;
  const {checkShape, convertProperties, defineGetter, readEnum, toTensor} = functions;

  convertProperties(SafetensorsReader, {load_mode: mode => readEnum(Apr.SafetensorsLoadMode, mode, 'load_mode')});

  const newFromFile = SafetensorsReader.new_from_file;
  SafetensorsReader.new_from_file = function (file, cancellable = null) {
    return newFromFile.call(this, file, cancellable);
  };

  const newFromStream = SafetensorsReader.new_from_stream;
  SafetensorsReader.new_from_stream = function (stream, cancellable = null) {
    return newFromStream.call(this, stream, cancellable);
  };

  Gio._promisify(SafetensorsReader, 'new_from_file_async', 'new_from_file_finish');
  const newFromFileAsync = SafetensorsReader.new_from_file_async;
  SafetensorsReader.new_from_file_async = function (file, cancellable = null) {
    return newFromFileAsync.call(this, file, PRIORITY, cancellable);
  };

  for (const [name, nArguments] of [['get_tensor', 1], ['get_slice', 2]]) {
    Gio._promisify(SafetensorsReader.prototype, `${name}_async`, `${name}_finish`);
    const get = SafetensorsReader.prototype[`${name}_async`];
    SafetensorsReader.prototype[`${name}_async`] = function (...args) {
      const [cancellable = null] = args.splice(nArguments);
      return get.call(this, ...args, PRIORITY, cancellable);
    };
  }

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

  // The cancellable is optional.
  for (const [name, nArguments] of [['write_to_file', 1], ['write_to_stream', 1], ['write_shards', 3]]) {
    const write = SafetensorsWriter.prototype[name];
    SafetensorsWriter.prototype[name] = function (...args) {
      return write.call(this, ...args, ...args.length === nArguments ? [null] : []);
    };
  }

  for (const name of ['write_to_file', 'write_to_bytes', 'write_to_stream', 'write_shards'])
    Gio._promisify(SafetensorsWriter.prototype, `${name}_async`, `${name}_finish`);

  const {write_to_file_async: writeToFileAsync, write_to_bytes_async: writeToBytesAsync,
    write_to_stream_async: writeToStreamAsync, write_shards_async: writeShardsAsync} = SafetensorsWriter.prototype;

  SafetensorsWriter.prototype.write_to_file_async = function (file, cancellable = null) {
    return writeToFileAsync.call(this, file, PRIORITY, cancellable);
  };

  SafetensorsWriter.prototype.write_to_bytes_async = function (cancellable = null) {
    return writeToBytesAsync.call(this, PRIORITY, cancellable);
  };

  SafetensorsWriter.prototype.write_to_stream_async = function (stream, cancellable = null) {
    return writeToStreamAsync.call(this, stream, PRIORITY, cancellable);
  };

  SafetensorsWriter.prototype.write_shards_async = function (folder, prefix, maxShardSize, cancellable = null) {
    return writeShardsAsync.call(this, folder, prefix, maxShardSize, PRIORITY, cancellable);
  };
}

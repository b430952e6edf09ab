/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// How methods are changed.

const {Gio, GLib} = imports.gi;

function getFunctions(Apr, functions) {
  const {describe} = functions;

  function defineGetter(object, name, get) {
    Object.defineProperty(object, name, {get, configurable: true, enumerable: true});
  }

  // The names of features, or of targets, which may be assigned; null forgets them.
  function defineNames(object, name) {
    Object.defineProperty(object, name, {
      get() {
        return this[`get_${name}`]();
      },
      set(names) {
        this[`set_${name}`](names);
      },
      configurable: true,
      enumerable: true,
    });
  }

  // Makes promises of a method, and returns it.
  function promisify(prototype, name) {
    Gio._promisify(prototype, `${name}_async`, `${name}_finish`);
    return prototype[`${name}_async`];
  }

  // Calls a method with its first n arguments, what a script never gives, and the cancellable, which a script may leave
  // out. Where there are fewer than n, GJS says so: in their places it would take undefined for 0.
  function complete(method, n, ...implicit) {
    return function (...args) {
      const [cancellable = null] = args.splice(n);
      return method.call(this, ...args, ...args.length === n ? [...implicit, cancellable] : []);
    };
  }

  // Lets scripts call a function with so many arguments without its cancellable.
  function letOmitCancellable(object, name, nArguments) {
    object[name] = complete(object[name], nArguments);
  }

  // Makes promises of a method, and lets scripts call it with so many arguments, without a priority or a cancellable.
  function promisifySimple(object, name, nArguments) {
    object[`${name}_async`] = complete(promisify(object, name), nArguments, GLib.PRIORITY_DEFAULT);
  }

  // The value of an enumeration, which may be a string: its name in small letters. GJS would make 0 of any string.
  function toEnum(type, value, what, names = Object.keys(type).filter(name => typeof type[name] === 'number')) {
    const simplify = name => name.toLowerCase().replaceAll('_', '-');
    const found = names.find(name => typeof value === 'string' ? simplify(name) === simplify(value) : type[name] === value);
    if (found === undefined) {
      const choices = names.map(name => `“${simplify(name)}”`).join(', ');
      throw new TypeError(`${what} must be one of ${choices}, not ${describe(value)}`);
    }
    return type[found];
  }

  // An enumeration's value for a string, which may be one of these names, and anything else as it is.
  function readEnum(type, value, what, names = undefined) {
    return typeof value === 'string' ? toEnum(type, value, what, names) : value;
  }

  // These three refuse what GJS would make another value of: NaN of a text, true of 'no', a large count of -1.
  function readNumber(value, what) {
    if (typeof value !== 'number')
      throw new TypeError(`${what} must be a number, not ${describe(value)}`);
    return value;
  }

  function readBoolean(value, what) {
    if (typeof value !== 'boolean')
      throw new TypeError(`${what} must be true or false, not ${describe(value)}`);
    return value;
  }

  function readCount(value, what) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new TypeError(`${what} must be a whole number from 0 on, not ${describe(value)}`);
    return value;
  }

  // Has a method convert one of its arguments, by a function with the method's object as this.
  function convertArgument(object, name, position, convert) {
    const method = object[name];
    object[name] = function (...args) {
      if (position < args.length)
        args[position] = convert.call(this, args[position]);
      return method.apply(this, args);
    };
  }

  // Has the constructor, and whatever sets a property later, convert the values of some properties. To the constructor,
  // undefined is a property that is not set.
  function convertProperties(type, converters) {
    const {_init: init} = type.prototype;
    const toName = key => key.replaceAll('-', '_').replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    type.prototype._init = function (properties = {}, ...rest) {
      // GJS refuses what has no properties.
      if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
        return init.call(this, properties, ...rest);
      const converted = Object.entries(properties).filter(([, value]) => value !== undefined).map(([key, value]) =>
        [key, Object.hasOwn(converters, toName(key)) ? converters[toName(key)](value, toName(key)) : value]);
      return init.call(this, Object.fromEntries(converted), ...rest);
    };

    for (const [name, convert] of Object.entries(converters)) {
      const [getter, setter] = [`get_${name}`, `set_${name}`];
      if (type.prototype[setter] === undefined)
        continue;
      convertArgument(type.prototype, setter, 0, value => convert(value, name));
      Object.defineProperty(type.prototype, name, {
        get() {
          return this[getter]();
        },
        set(value) {
          this[setter](value);
        },
        configurable: true,
        enumerable: true,
      });
    }
  }

  return {convertArgument, convertProperties, defineNames, defineGetter, letOmitCancellable, promisify, promisifySimple,
    readBoolean, readCount, readEnum, readNumber, toEnum};
}

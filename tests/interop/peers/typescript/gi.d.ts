// SPDX-License-Identifier: LGPL-2.1-or-later
// As much of GLib, GObject and Gio as the library's types and the program that is checked need.

declare module 'gi://GLib?version=2.0' {
  export namespace GLib {
    class Error {
      message: string;
      matches(domain: unknown, code: number): boolean;
    }
    class Bytes {
      constructor(data: Uint8Array | null);
      toArray(): Uint8Array;
    }
  }
  export default GLib;
}

declare module 'gi://GObject?version=2.0' {
  export namespace GObject {
    class Object {
      connect(signal: string, callback: (...args: any[]) => unknown): number;
    }
    type ParamFlags = number;
    interface GType {
      name: string;
    }
  }
  export default GObject;
}

declare module 'gi://Gio?version=2.0' {
  import GObject from 'gi://GObject?version=2.0';

  export namespace Gio {
    class Cancellable {
      cancel(): void;
    }
    interface ListModel<Item extends GObject.Object = GObject.Object> extends GObject.Object {
      get_item(position: number): Item | null;
      get_item_type(): GObject.GType;
      get_n_items(): number;
      items_changed(position: number, removed: number, added: number): void;
      vfunc_get_item(position: number): Item | null;
      vfunc_get_item_type(): GObject.GType;
      vfunc_get_n_items(): number;
    }
    interface File {}
    namespace File {
      function new_for_path(path: string): File;
    }
    class InputStream {}
    class OutputStream {}
  }
  export default Gio;
}

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
  }
  export default GObject;
}

declare module 'gi://Gio?version=2.0' {
  export namespace Gio {
    class Cancellable {
      cancel(): void;
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

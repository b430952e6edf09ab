/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GObject from 'gi://GObject';

const Rent = GObject.registerClass(class Rent extends Gio.Application {
  vfunc_startup() {
    super.vfunc_startup();
    this.model = Apr.LinearRegression.load('rent.safetensors');
  }

  vfunc_activate() {
    const [rent] = this.model.predict([[70, 2]]);
    print(rent.toFixed(2));
  }
});

new Rent({application_id: 'org.example.Rent', flags: Gio.ApplicationFlags.NON_UNIQUE}).run([]);

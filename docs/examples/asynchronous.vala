// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

async void run () throws Error {
    const int N = 200000;
    var rows = new double[2 * N];
    var targets = new double[N];
    for (int i = 0; i < 2 * N; i++)
        rows[i] = Math.sin (i);
    for (int i = 0; i < N; i++)
        targets[i] = 3 * rows[2 * i] - rows[2 * i + 1];
    var x = new Tensor.from_doubles (rows, { N, 2 });
    var y = new Tensor.from_doubles (targets, { N });

    var model = new LinearRegression ();
    double seen = 0;
    model.notify["progress"].connect (() => { seen = model.progress; });
    yield model.fit_async (x, y, null, Priority.DEFAULT, null);
    print ("fitted %s progress %g\n", model.fitted.to_string (), seen);

    var cancellable = new Cancellable ();
    Idle.add (() => { cancellable.cancel (); return Source.REMOVE; }, Priority.HIGH);
    try {
        yield model.fit_async (x, y, null, Priority.DEFAULT, cancellable);
    } catch (IOError.CANCELLED e) {
        print ("%s - unchanged %s\n", e.message, model.coefficients.to_string ());
    }
}

int main () {
    var loop = new MainLoop ();
    var status = 0;
    run.begin ((_, result) => {
        try {
            run.end (result);
        } catch (Error e) {
            printerr ("%s\n", e.message);
            status = 1;
        }
        loop.quit ();
    });
    loop.run ();
    return status;
}

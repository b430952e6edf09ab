#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Uses Trendline as a person does: sees by accessibility, acts with pointer and keys. Each step waits for what it
brings about.

Usage: test-driven.py TRENDLINE LONGLEY.csv, on a display and with a session bus of its own
"""

import collections
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from gi.repository import Gio, GLib

# What a person acts on.
CONTROLS = {'button', 'toggle button', 'checkbox', 'radio', 'combo box', 'text box', 'search box', 'spin button', 'switch',
            'slider', 'tab', 'menu item', 'link', 'image', 'progress bar'}
ACCESSIBLE = 'org.a11y.atspi.Accessible'
FOCUSABLE, SENSITIVE, VISIBLE = 11, 24, 30
# The rows that are previewed, which blank lines end: each row that is shown makes each look at the window longer. With
# fewer rows, more would be read.
HEAD = 'x,y\n' + '1,2\n3,5\n4,4\n' * 4 + '\n' * 70000
# The last row but one has no weight, and is not on the line.
WEIGHTED = 'x,w,y\n0,1,1\n1,1,3\n2,1,5\n3,0,100\n4,1,9\n'
# A window beside the other, from which the file that it is given can be dragged.
SOURCE = """
import sys
import gi
gi.require_version('Gtk', '4.0')
gi.require_version('Gdk', '4.0')
from gi.repository import Gtk, Gdk, Gio, GLib
def show(application):
    source = Gtk.DragSource()
    files = GLib.Bytes.new((GLib.filename_to_uri(sys.argv[1]) + '\\r\\n').encode())
    source.set_content(Gdk.ContentProvider.new_for_bytes('text/uri-list', files))
    window = Gtk.ApplicationWindow(application=application, title='Files', default_width=150, default_height=100)
    window.set_child(Gtk.Label(label='File', hexpand=True, vexpand=True))
    window.get_child().add_controller(source)
    window.present()
application = Gtk.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
application.connect('activate', show)
application.run([])
"""
# How the toolkit names what nobody has named.
CLASS_NAME = re.compile('(Gtk|Adw|Trendline)[A-Z]')


class Node:
    """What accessibility told of a part of a window: names and states as they were then, and calls to ask for more."""

    def __init__(self, place, parent, name, description, words):
        self.place, self.parent, self.name, self.description, self.words = place, parent, name, description, words

    def call(self, interface, method, arguments=None):
        return call(*self.place, interface, method, arguments)

    def get_role(self):
        return self.call(ACCESSIBLE, 'GetRoleName')[0]

    def get_extents(self):
        """In the coordinates of the window."""
        return self.call('org.a11y.atspi.Component', 'GetExtents', GLib.Variant('(u)', (1,)))[0]

    def has_state(self, state):
        return bool(self.words[state // 32] >> state % 32 & 1)

    def list_ancestors(self):
        node = self
        while node := node.parent:
            yield node


def call(name, path, interface, method, arguments=None):
    return bus.call_sync(name, path, interface, method, arguments, None, 0, GLib.MAXINT32, None).unpack()


def xdotool(*arguments):
    subprocess.run(['xdotool', *map(str, arguments)], check=True)


class App:
    """The program, from its start to its end."""

    waits_for = 'the program'

    def __init__(self, *arguments):
        self.messages = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen([program, *arguments], stderr=self.messages)
        self.connection = self.until('the program on the bus', self.get_connection)
        self.until('the window', lambda: self.find('window'))

    def get_connection(self):
        """The program's name on the bus."""
        registered = call('org.a11y.atspi.Registry', '/org/a11y/atspi/accessible/root', ACCESSIBLE, 'GetChildren')[0]
        for name, _ in registered:
            pid = call('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'GetConnectionUnixProcessID',
                       GLib.Variant('(s)', (name,)))[0]
            if pid == self.process.pid:
                return name
        return None

    def list_items(self):
        """What the toolkit's cache has, in one call. A node comes to it when its parent is first asked for children."""
        items = []
        while True:
            n_before = len(items)
            items = call(self.connection, '/org/a11y/atspi/cache', 'org.a11y.atspi.Cache', 'GetItems')[0]
            if len(items) == n_before:
                return items
            n_known = collections.Counter(parent for _, _, parent, *_ in items)
            for place, _, _, _, n_children, *_ in items:
                if n_known[place] < n_children:
                    call(*place, ACCESSIBLE, 'GetChildren')

    def list_nodes(self):
        """All that can be seen. To walk through the window would take thousands of calls each time."""
        nodes = {place: Node(place, parent, name, description, words)
                 for place, _, parent, _, _, _, name, _, description, words in self.list_items()}
        for node in nodes.values():
            node.parent = nodes.get(node.parent)
        return [node for node in nodes.values()
                if all(above.has_state(VISIBLE) or above.parent is None for above in (node, *node.list_ancestors()))]

    def find_all(self, role, name=''):
        """The nodes of a role whose name contains this."""
        for node in self.list_nodes():
            try:
                if name in node.name and node.get_role() == role:
                    yield node
            except GLib.Error:
                # It went since the window was looked at.
                pass

    def find(self, role, name=''):
        return next(self.find_all(role, name), None)

    def find_window(self, title):
        return next((node for node in self.list_nodes()
                     if node.parent and node.parent.parent is None and title in node.name), None)

    def until(self, what, condition):
        """Waits, for as long as it takes; the test's own limit ends a wait in vain."""
        App.waits_for = what
        while True:
            assert self.process.poll() is None, f'the program ended, waiting for {what}: {self.read_messages()}'
            try:
                if found := condition():
                    return found
            except GLib.Error:
                # A part of the window went while it was looked at.
                pass
            time.sleep(0.02)

    def until_shown(self, role, name=''):
        return self.until(f'{role} “{name}”', lambda: self.find(role, name))

    def find_place(self, role, name):
        """The middle of a node that has stopped to move."""
        for node in self.find_all(role, name):
            x, y, width, height = node.get_extents()
            # A narrow window's twin of a control has no place in a wide one.
            if width > 0 and height > 0:
                time.sleep(0.02)
                return (x + width // 2, y + height // 2) if node.get_extents() == (x, y, width, height) else None
        return None

    def point_at(self, role, name):
        xdotool('mousemove', *self.until(f'a place of {role} “{name}”', lambda: self.find_place(role, name)))

    def click(self, role, name):
        self.point_at(role, name)
        xdotool('click', 1)

    def choose_file(self, title, path, entry='GtkFileChooserEntry'):
        """Types a path in the dialog for files."""
        x, y, width, height = self.until(title, lambda: (window := self.find_window(title)) and window.get_extents())
        xdotool('mousemove', x + width // 2, y + height // 3)

        # Of this entry, accessibility does not tell the text.
        if entry != 'Name:':
            xdotool('key', 'ctrl+l')
        self.until('an entry for the path', lambda: self.find_place('text box', entry))
        xdotool('key', 'ctrl+a', 'type', path)
        xdotool('key', 'Return')
        self.until('the dialog to go', lambda: self.find_window(title) is None)

    def read_messages(self):
        self.messages.seek(0)
        return self.messages.read()

    def quit(self):
        xdotool('mousemove', 200, 300, 'key', 'ctrl+q')
        self.process.wait()
        messages = self.read_messages()
        assert self.process.returncode == 0, messages
        assert 'CRITICAL' not in messages, messages


def is_of_toolkit(node):
    """Whether it is a part of a list to choose from, or of a toast."""
    return any(above.name == 'AdwToastWidget' or above.get_role() == 'combo box' for above in node.list_ancestors())


def find_unnamed(nodes):
    """The controls that a person who hears the window would not know."""
    for node in nodes:
        if node.has_state(FOCUSABLE) and (not node.name or CLASS_NAME.match(node.name)) and not node.description:
            role = node.get_role()
            if role in CONTROLS and not is_of_toolkit(node):
                yield f'{role} “{node.name}”'


def get_plot_text(app):
    plot = app.find('image', 'Residuals and fitted values')
    return plot.description if plot is not None else ''


def test_open(app):
    """A person who has never seen it presses the one large button."""
    app.click('button', 'Open a Table')
    app.choose_file('Open a Table', longley)
    app.until_shown('label', 'longley.csv')
    # All of its columns, and its first cell.
    for column in ('y', 'x1', 'x6'):
        app.until_shown('label', column)
    app.until_shown('label', '60323')


def test_fit(app):
    """The interval of x1 as R's confint has it, and NIST's R²."""
    app.click('button', 'Fit')
    for text in ('0.995479', '15.0619', '84.9149', '−177.029', '207.153'):
        app.until_shown('label', text)


def test_sort(app):
    """A click on a heading sorts the terms by what is below it, another turns them round."""
    def get_place(text):
        return app.find('label', text).get_extents()[1]

    assert get_place('−3.48226e+06') < get_place('15.0619') < get_place('−2.02023')
    app.click('label', 'Estimate')
    app.until('the least first', lambda: get_place('−3.48226e+06') < get_place('−2.02023') < get_place('15.0619'))
    app.click('label', 'Estimate')
    app.until('the greatest first', lambda: get_place('1829.15') < get_place('15.0619') < get_place('−3.48226e+06'))


def test_plots(app):
    """The points of a plot are gone through by keys, and said."""
    app.click('tab', 'Plots')
    app.click('image', 'Residuals and fitted values')
    xdotool('key', 'Home')
    app.until('a point to be said', lambda: get_plot_text(app).startswith('Row '))
    first = get_plot_text(app)
    xdotool('key', 'Right')
    app.until('another point', lambda: get_plot_text(app) != first)
    assert get_plot_text(app).startswith('Row ')


def test_names(app):
    """On each page."""
    for page, control in (('Data', 'list'), ('Model', 'list'), ('Plots', 'image')):
        app.click('tab', page)
        app.until_shown(control)
        unnamed = list(find_unnamed(app.list_nodes()))
        assert not unnamed, '\n'.join(unnamed)


def test_save(app):
    """What is saved is the model."""
    path = folder / 'longley.safetensors'
    app.click('tab', 'Model')
    xdotool('key', 'ctrl+s')
    app.choose_file('Save the Model', path, 'Name:')
    app.until('the file', path.exists)
    data = path.read_bytes()
    header = json.loads(data[8:8 + struct.unpack('<Q', data[:8])[0]])
    assert header['coefficients']['shape'] == [6], header
    assert header['__metadata__']['aprender.model'] == 'AprLinearRegression', header


def test_wrong_table():
    """A cell that is no number, beyond what is previewed: its place is said."""
    path = folder / 'wrong.csv'
    path.write_text(HEAD + '7,many\n')
    app = App(str(path))
    app.until_shown('label', 'wrong.csv')
    app.click('button', 'Fit a Model')
    app.click('button', 'Details')
    app.until_shown('label', str(HEAD.count('\n') + 1))
    app.process.terminate()
    app.process.wait()


def test_cancel():
    """A table that never ends: whatever the machine, the fit runs until it is cancelled."""
    path = folder / 'endless.csv'
    os.mkfifo(path)
    done = threading.Event()

    def write():
        while not done.is_set():
            try:
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(HEAD)
                    while not done.is_set():
                        file.write('1,2\n3,5\n4,4\n' * 1000)
                        file.flush()
                        time.sleep(0.01)
            except BrokenPipeError:
                pass

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    app = App(str(path))
    app.until_shown('label', 'endless.csv')
    app.until('the table to be open', lambda: app.find('button', 'Fit a Model').has_state(SENSITIVE))
    app.click('button', 'Fit a Model')
    app.until_shown('label', 'Reading Rows')
    app.click('button', '_Cancel')
    app.until('the fit to end', lambda: app.find('button', 'Fit a Model').has_state(SENSITIVE))
    app.click('tab', 'Model')
    app.until_shown('label', 'No Model Yet')
    done.set()
    app.process.terminate()
    app.process.wait()


def find_x_window(title):
    return subprocess.run(['xdotool', 'search', '--onlyvisible', '--name', title], capture_output=True, text=True).stdout


def test_drop():
    """A file that is dragged from another program is opened; then weights, predictions of a table and recent files."""
    path = folder / 'weighted.csv'
    path.write_text(WEIGHTED)
    app = App(str(longley))
    app.until_shown('label', longley.name)
    with subprocess.Popen([sys.executable, '-c', SOURCE, str(path)]) as source:
        window = app.until('the window of files', lambda: find_x_window('^Files$')).split()[0]
        xdotool('windowmove', '--sync', window, 1110, 800)
        # A drag begins, enters and drops as the other side answers: each step takes its time.
        for step in (('mousemove', 1185, 860), ('mousedown', 1), ('mousemove', 1170, 845), ('mousemove', 600, 400),
                     ('mousemove', 605, 405), ('mouseup', 1)):
            xdotool(*step, 'sleep', 0.2)
        app.until_shown('label', path.name)
        source.terminate()

    # None, x, w
    app.click('combo box', 'Weights')
    time.sleep(0.2)
    xdotool('key', 'Down', 'Down', 'Return')
    app.click('button', 'Fit')
    app.until_shown('label', '(Intercept)')
    (folder / 'new.csv').write_text('x\n10\n20\n')
    predictions = folder / 'weighted-predictions.csv'
    xdotool('key', 'ctrl+p')
    app.choose_file('Predict a Table', folder / 'new.csv')
    app.choose_file('Save the Predictions', predictions, 'Name:')
    app.until_shown('label', 'The predictions are saved')
    rows = [line.split(',') for line in predictions.read_text().splitlines()]
    assert [float(row[0]) for row in rows[1:]] == [21, 41], rows

    # What was opened last is the first.
    x, y, width, height = next(node.get_extents() for node in app.list_nodes() if node.description == 'Recent Files')
    xdotool('mousemove', x + width // 2, y + height // 2, 'click', 1)
    app.until_shown('menu item', path.name)
    xdotool('key', 'Down', 'Return')
    app.until_shown('label', longley.name)
    app.quit()


def main():
    def give_up(*_):
        print(f'Bail out! waiting for {App.waits_for}', flush=True)
        os._exit(1)

    signal.signal(signal.SIGTERM, give_up)
    steps = [test_open, test_fit, test_sort, test_plots, test_save, test_names]
    alone = [test_drop, test_wrong_table, test_cancel]
    print(f'1..{len(steps) + len(alone)}', flush=True)
    number = 0
    status = 0
    try:
        app = App()
        for number, step in enumerate(steps, 1):
            step(app)
            print(f'ok {number} {step.__name__}', flush=True)
        app.quit()
        for number, step in enumerate(alone, len(steps) + 1):
            step()
            print(f'ok {number} {step.__name__}', flush=True)
    except AssertionError:
        status = 1
        print(f'not ok {number}')
        print('\n'.join(f'# {line}' for line in traceback.format_exc().splitlines()), flush=True)
    sys.exit(status)


session = Gio.bus_get_sync(Gio.BusType.SESSION)
try:
    address = session.call_sync('org.a11y.Bus', '/org/a11y/bus', 'org.a11y.Bus', 'GetAddress', None, None, 0, GLib.MAXINT32, None)
except GLib.Error as error:
    print(f'1..0 # SKIP there is no bus of accessibility: {error.message}')
    sys.exit()
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(address.unpack()[0], flags, None, None)
program, longley = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    settings = pathlib.Path(os.environ['XDG_CONFIG_HOME'], 'gtk-4.0')
    settings.mkdir(parents=True)
    (settings / 'settings.ini').write_text('[Settings]\ngtk-enable-animations=false\n')
    main()

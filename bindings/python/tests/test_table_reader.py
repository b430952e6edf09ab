# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables as batches of rows."""

import asyncio

import tap
from common import Apr, Gio, GLib, TestCase

TABLE = 'rent,area,kind,weight\n500,50,"flat",1\n900,75,"house",2\n700,60,"flat",3\n'


def open_table(text=TABLE, **properties):
    stream = Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(text.encode()))
    reader = Apr.TableReader.new(stream, 'rents')
    for name, value in properties.items():
        setattr(reader, name, value)
    return reader


def to_lists(rows):
    return [None if tensor is None else tensor.tolist() for tensor in rows]


ROWS = [[[50.0], [75.0], [60.0]], [500.0, 900.0, 700.0], [1.0, 2.0, 3.0]]
CHOICE = {'targets': ['rent'], 'features': ['area'], 'weight': 'weight'}


class TableReader(TestCase):
    def test_read(self):
        reader = open_table(**CHOICE)
        self.assertEqual(to_lists(reader.read()), ROWS)
        self.assertIsNone(reader.read())
        self.assertEqual(to_lists(open_table(features=['area']).read()), [ROWS[0], None, None])

    def test_iterate(self):
        """All rows, in batches."""
        text = 'rent,area\n' + ''.join(f'{2 * i},{i}\n' for i in range(200000))
        batches = [X[:, 0].tolist() for X, _, _ in open_table(text, targets=['rent'])]
        self.assertGreater(len(batches), 1)
        self.assertEqual(sum(batches, []), list(range(200000)))

    def test_iterate_async(self):
        async def read_all():
            batches = []
            async for X, y, weights in open_table(text, targets=['rent']):
                batches.append(X.tolist())
                self.assertEqual((len(y), weights), (len(X), None))
            async for X, _, _ in open_table(text):
                break
            return batches, len(X)

        text = 'rent,area\n' + ''.join(f'{2 * i},{i}\n' for i in range(200000))
        batches, n = asyncio.run(read_all())
        self.assertEqual(n, len(batches[0]))
        self.assertGreater(len(batches), 1)
        self.assertEqual([row[0] for rows in batches for row in rows], list(range(200000)))

    def test_path(self):
        path = self.make_directory() / 'rents.csv'
        path.write_text('rent,area\n1,2\n')
        for name in (path, str(path), Gio.File.new_for_path(str(path))):
            self.assertEqual(Apr.TableReader.new_for_file(name).read()[0].tolist(), [[1.0, 2.0]])
            self.assertEqual(Apr.TableReader.new_for_file(file=name, cancellable=None).read()[0].tolist(), [[1.0, 2.0]])
        with self.assertRaisesRegex(ValueError, 'file has a NUL'):
            Apr.TableReader.new_for_file(f'{path}\0.gz')
        with self.assertRaises(FileNotFoundError):
            Apr.TableReader.new_for_file(path.with_name('missing.csv'))

    def test_read_async(self):
        async def read_all():
            reader = open_table(**CHOICE)
            return [to_lists(await reader.read_async()), await reader.read_async()]

        self.assertEqual(asyncio.run(read_all()), [ROWS, None])

    def test_read_names_async(self):
        async def read_names(cancellable=None):
            reader, told = open_table(**CHOICE), []
            reader.connect('notify::names', lambda reader, _: told.append(list(reader.names)))
            known = await reader.read_names_async(cancellable)
            return known, list(reader.names), told, to_lists(await reader.read_async())

        names = open_table()
        names.read_names()
        known, found, told, rows = asyncio.run(read_names())
        self.assertIs(known, True)
        self.assertEqual((found, told), (list(names.names), [list(names.names)]))
        self.assertEqual(rows, ROWS)
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        with self.assertRaisesRegex(GLib.Error, 'cancelled'):
            asyncio.run(read_names(cancellable))

    def test_first_cells(self):
        reader = Apr.TableReader.new(Gio.MemoryInputStream.new_from_data(b'a;b\n 1;"x;y"\n2;z\n', None), None)
        # PyGObject has an empty list in place of NULL.
        self.assertEqual(reader.peek_cells(9), [])
        reader.read_names()
        self.assertEqual(reader.peek_cells(1), ['1', 'x;y'])
        self.assertEqual(reader.peek_cells(9), ['1', 'x;y', '2', 'z'])

    def test_categories(self):
        async def read_categories():
            return await open_table().read_categories_async(['kind'])

        self.assertEqual(asyncio.run(read_categories()), ['kind=flat', 'kind=house'])
        reader = open_table(targets=['rent'], features=['kind=flat', 'kind=house'])
        self.assertEqual(to_lists(reader.read())[0], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])

    def test_forgotten_targets(self):
        state = Apr.CrossProducts.new(1, 1)
        for X, y, weights in open_table(features=['area']):
            with self.assertRaisesRegex(ValueError, 'the target y is None: an Apr.TableReader gives one if its targets are set'):
                state.update(X, y, weights)

    def test_late_choice(self):
        """What is set after rows have been read is not ignored unseen."""
        reader = open_table(**CHOICE)
        reader.read()
        reader.features = ['rent']
        with self.assertRaisesRegex(GLib.Error, 'rents: the property “features” was set after reading had begun'):
            reader.read()

    def test_failures(self):
        """A cell that is no number, and a call that is cancelled."""
        async def read(reader, cancellable=None):
            await reader.read_async(cancellable)

        wrong = 'rent,area\n1,2\n3,many\n'
        for call in (lambda: open_table(wrong).read(), lambda: asyncio.run(read(open_table(wrong)))):
            with self.assertRaisesRegex(ValueError, 'rents.*many') as context:
                call()
            self.assertNotIsInstance(context.exception, OSError)
        for choice in (dict(targets=['rents']), dict(features=['aera']), dict(weight='w'), dict(features=['knd=flat'])):
            with self.assertRaisesRegex(ValueError, 'rents: no column “.*”: there are “rent”, “area”') as context:
                open_table(**choice).read()
            self.assertNotIsInstance(context.exception, OSError)
            self.assertTrue(context.exception.matches(Apr.error_quark(), Apr.Error.FEATURE_NAMES))
        with self.assertRaisesRegex(ValueError, 'the column “area” is named twice'):
            open_table(features=['area', 'area']).read()
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        with self.assertRaises(GLib.Error) as context:
            asyncio.run(read(open_table(), cancellable))
        self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))


tap.main()

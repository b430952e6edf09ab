# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said to who calls something in a wrong way, and that nothing has changed after it."""

import asyncio

import tap
from common import Apr, TestCase


class Messages(TestCase):
    def test_a_class_without_virtual_functions(self):
        class Nothing(Apr.Estimator):
            __gtype_name__ = 'AprTestNothing'

        class Deaf(Apr.Estimator):
            __gtype_name__ = 'AprTestDeaf'

            def do_fit(self, X, y, sample_weight, cancellable):
                return True

        self.assertFails(Apr.Error.FAILED, 'AprTestNothing has no fit', Nothing().fit, [[1]], [1])
        model = Deaf().fit([[1]], [1])
        self.assertFails(Apr.Error.FAILED, 'AprTestDeaf has no predict', model.predict, [[1]])
        self.assertFails(Apr.Error.FAILED, 'AprTestDeaf has no predict', model.score, [[1]], [1])
        self.assertFails(Apr.Error.FAILED, 'AprTestDeaf has no predict', lambda: asyncio.run(model.predict_async([[1]])))


if __name__ == '__main__':
    tap.main()

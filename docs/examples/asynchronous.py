# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio

import aprender
import numpy
from gi.repository import Gio

rng = numpy.random.default_rng(1)
X = rng.normal(size=(200_000, 20))
y = X @ numpy.arange(20) + rng.normal(size=200_000)


async def main():
    model = aprender.LinearRegression()
    model.connect('notify::progress', lambda model, _: seen.append(model.progress))
    await model.fit_async(X, y)
    print('fitted', model.fitted, 'progress', seen[-1], 'in order', seen == sorted(seen))

    before = model.coefficients
    cancellable = Gio.Cancellable()
    task = asyncio.ensure_future(model.fit_async(2 * X, y, cancellable=cancellable))
    await asyncio.sleep(0)
    cancellable.cancel()
    try:
        await task
    except aprender.AprError as error:
        print(error, '- unchanged', (model.coefficients == before).all())

    predicted, score = await model.predict_async(X[:3]), await model.score_async(X, y)
    print(len(predicted), score > 0.99)


seen = []
asyncio.run(main())

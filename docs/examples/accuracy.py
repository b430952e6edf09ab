# SPDX-License-Identifier: LGPL-2.1-or-later
import csv
from fractions import Fraction

import aprender
import duckdb
import numpy
import pyarrow
import statsmodels.api
from sklearn.linear_model import LinearRegression


def solve(X, y):
    """The exact intercept and coefficients, in rational numbers: Gauss's elimination of the normal equations."""
    rows = [[Fraction(1), *map(Fraction, row), Fraction(target)] for row, target in zip(X.tolist(), y.tolist())]
    n = len(rows[0])
    a = [[sum(row[i] * row[j] for row in rows) for j in range(n)] for i in range(n - 1)]
    for i in range(n - 1):
        a[i] = [value / a[i][i] for value in a[i]]
        for j in range(n - 1):
            if j != i:
                a[j] = [value - a[j][i] * own for value, own in zip(a[j], a[i])]
    return [row[-1] for row in a]


def fit_by_qr(ones, y):
    """The coefficients of statsmodels by QR, as R has them; None where it finds the matrix singular."""
    try:
        return statsmodels.api.OLS(y, ones).fit(method='qr').params
    except numpy.linalg.LinAlgError:
        return None


def count_digits(found, exact):
    """How many decimal digits of the worst coefficient are right: all 15 that a double always holds, or below some number."""
    if found is None:
        return 'error'
    errors = [abs(Fraction(float(f)) - e) / (abs(e) or 1) for f, e in zip(found, exact)]
    worst = max(errors)
    return next((f'below {limit}' for limit in (1, 5, 11, 15) if worst >= Fraction(1, 10**limit)), '15')


def powers(x, degree):
    columns = [x]
    while len(columns) < degree:
        columns.append(columns[-1] * x)
    return numpy.stack(columns, axis=1)


def read_nist(name, degree):
    """NIST's data of a polynomial."""
    with open(f'nist/{name}.csv') as file:
        rows = numpy.array([[float(row['x']), float(row['y'])] for row in csv.DictReader(file)])
    return powers(rows[:, 0], degree), rows[:, 1]


counted = numpy.arange(2000.0)
cases = {
    'Pontius': read_nist('pontius', 2),
    'Filip': read_nist('filip', 10),
    **{f'Wampler {i}': read_nist(f'wampler{i}', 5) for i in range(1, 6)},
    'x = 1e8 + i': (1e8 + counted[:, None], 2 * counted + 1),
    'nearly equal': (numpy.stack([counted, counted + 1e-7 * (counted % 3)], axis=1), counted % 7),
    'whole, float32': (numpy.array([[30, 1], [30, 9], [11, 4], [2, 6]], numpy.float32),
                       numpy.array([-150, -150, -55, -10], numpy.float32)),
}

print(f'{"":16}{"aprender":>10}{"scikit-learn":>14}{"statsmodels":>13}{"its QR":>10}{"numpy":>10}')
for name, (X, y) in cases.items():
    exact = solve(X, y)
    ones = numpy.column_stack([numpy.ones(len(X)), X])
    ours = aprender.LinearRegression(dtype='f64').fit(X, y)
    theirs = LinearRegression().fit(X, y)
    answers = [[ours.intercept, *ours.coefficients], [theirs.intercept_, *theirs.coef_],
               statsmodels.api.OLS(y, ones).fit().params, fit_by_qr(ones, y), numpy.linalg.lstsq(ones, y)[0]]
    digits = [count_digits(answer, exact) for answer in answers]
    print(f'{name:16}{digits[0]:>10}{digits[1]:>14}{digits[2]:>13}{digits[3]:>10}{digits[4]:>10}')

# The order of the rows, and the number of threads, are no part of the question.
rng = numpy.random.default_rng(1)
X, y, order = rng.normal(size=(5000, 20)), rng.normal(size=5000), rng.permutation(5000)
print('the rows in another order:')
for name, model in ('aprender', aprender.LinearRegression()), ('scikit-learn', LinearRegression()):
    first = model.fit(X, y).coef_.copy()
    same = (model.fit(X[order], y[order]).coef_ == first).all()
    print(f'{name:16}{"the same coefficients" if same else "other coefficients"}')

# A database, asked for the sum of the same numbers again and again.
database = duckdb.connect()
database.execute('SET threads = 4')
database.register('arrow', pyarrow.table({'x': rng.normal(size=3_000_000)}))
database.execute('CREATE TABLE numbers AS SELECT * FROM arrow')
sums = [database.execute('SELECT sum(x) FROM numbers').fetchone()]
while len(sums) < 1000 and sums[-1] == sums[0]:
    sums.append(database.execute('SELECT sum(x) FROM numbers').fetchone())
print('the same query again:')
print(f'{"DuckDB":16}{"the same sum" if sums[-1] == sums[0] else "another sum"}')

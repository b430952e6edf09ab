# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pandas
from formulaic import model_matrix

rents = pandas.DataFrame({
    'rent': [602, 853, 1396, 690, 1081, 869, 1055, 560, 1241, 891, 780, 829],
    'area': [50, 80, 120, None, 95, 70, 100, 40, 110, 85, 60, 75],
    'town': ['Kiel', 'Ulm', 'Bonn', 'Ulm', 'Kiel', 'Bonn', 'Ulm', 'Bonn', 'Kiel', 'Ulm', 'Bonn', 'Kiel'],
})

# Rows that miss something are left out, of y too; the formula has an intercept of its own.
y, X = model_matrix('rent ~ area + C(town) + I(area**2 / 100)', rents)
model = aprender.LinearRegression(fit_intercept=False).fit(X, y['rent'])
print(model.summary())
print(model.get_statistics().test_hypothesis('`C(town)[T.Kiel]` = `C(town)[T.Ulm]`'))

new = X.model_spec.get_model_matrix(pandas.DataFrame({'area': [90], 'town': ['Ulm']}))
print(f'{model.predict(new)[0]:.2f}')

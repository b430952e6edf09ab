# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pandas

rents = pandas.DataFrame({
    'area': [50, 80, 120, 65, 95, 70, 100, 40, 110, 85, 60, 75],
    'town': ['Kiel', 'Ulm', 'Bonn', 'Ulm', 'Kiel', 'Bonn', 'Ulm', 'Bonn', 'Kiel', 'Ulm', 'Bonn', 'Kiel'],
    'lift': [True, False, True, False, True, False, False, True, True, False, True, False],
    'rent': [602, 853, 1396, 690, 1081, 869, 1055, 560, 1241, 891, 780, 829],
})

# How far off is the rent of a flat in a town of which no rent is known?
towns = aprender.Folds(rents, 'rent', folds='town')
errors = aprender.LinearRegression().cross_validate(towns, 'mean_absolute_error')
print({town: f'{error:.1f}' for town, error in zip(sorted(set(towns.labels)), errors)})

# Which penalty is the best one in towns that are known?
X = pandas.get_dummies(rents.drop(columns='rent'), drop_first=True)
folds = aprender.Folds(X, rents['rent'], folds=4, seed=1)
model = aprender.LinearRegression()
errors = {}
for model.alpha in (0.0, 0.01, 1.0, 100.0):
    errors[model.alpha] = model.cross_validate(folds, 'mean_absolute_error').mean()
    print(f'alpha {model.alpha}: {errors[model.alpha]:.2f}')

model.alpha = min(errors, key=errors.get)
print(rents.assign(predicted=model.cross_predict(folds).round(1)).tail(3))

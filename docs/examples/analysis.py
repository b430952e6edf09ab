# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pandas
from sklearn.model_selection import GridSearchCV, cross_val_score

rents = pandas.DataFrame({
    'area': [50, 80, 120, 65, 95, 70, 100, 40, 110, 85, 60, 75],
    'town': ['Kiel', 'Ulm', 'Bonn', 'Ulm', 'Kiel', 'Bonn', 'Ulm', 'Bonn', 'Kiel', 'Ulm', 'Bonn', 'Kiel'],
    'lift': [True, False, True, False, True, False, False, True, True, False, True, False],
    'rent': [602, 853, 1396, 690, 1081, 869, 1055, 560, 1241, 891, 780, 829],
})
X = pandas.get_dummies(rents.drop(columns='rent'), drop_first=True)
y = rents['rent']

model = aprender.LinearRegression().fit(X, y)
print(model.summary())

# The same as a frame, with intervals of 90 %, and one row of it.
statistics = model.get_statistics()
print(statistics.to_frame(0.9)[['estimate', 'lower', 'upper', 'p_value']].round(3))
print(f"lift: p = {statistics['lift'].p_value:.4f}")

errors = -cross_val_score(model, X, y, scoring='neg_mean_absolute_error', cv=4)
print(f'{errors.mean():.2f} off on average')
search = GridSearchCV(aprender.LinearRegression(), {'alpha': [0.0, 0.01, 1.0, 100.0]}, cv=4).fit(X, y)
print(search.best_params_)

new = pandas.DataFrame({'area': [90], 'lift': [True], 'town_Kiel': [False], 'town_Ulm': [True]})
lower, upper = model.predict_interval(new, level=0.9)
print(f'{model.predict(new)[0]:.0f}, from {lower[0]:.0f} to {upper[0]:.0f}')
try:
    model.predict(new[['lift', 'area', 'town_Kiel', 'town_Ulm']])
except ValueError as error:
    print(error)

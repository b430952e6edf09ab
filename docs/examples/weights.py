# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

# Rents by square metres. The third is the mean of two flats: it has the weight 2.
X = [[50], [65], [80], [120]]
y = [523, 671, 835, 1214]
weights = [1, 1, 2, 1]

weighted = aprender.LinearRegression().fit(X, y, weights)
twice = aprender.LinearRegression().fit([*X, X[2]], [*y, y[2]])
for model in (weighted, twice):
    statistics = model.get_statistics()
    for term in statistics:
        print(f'{term.name} {term.estimate:.4f}, standard error {term.standard_error:.4f}')
    print(f'{statistics.df_residual} degrees of freedom')

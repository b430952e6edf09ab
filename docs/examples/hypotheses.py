# SPDX-License-Identifier: LGPL-2.1-or-later
import math

import aprender

# Stopping distances of cars, in feet, by speed, in miles an hour: Ezekiel's data of 1930, R's “cars”.
speed = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17, 17,
         17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25]
distance = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40,
            32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85]
X = [[v, v * v] for v in speed]

model = aprender.LinearRegression()
model.set_feature_names(['speed', 'square'])
statistics = model.fit(X, distance).get_statistics()

# The scatter grows with the speed: standard errors that allow for that.
robust = model.get_robust_statistics(X, distance, kind='hc3')
for term, other in zip(statistics, robust):
    print(f'{term.name:12} {term.estimate:9.4f}  {term.standard_error:8.4f}  {other.standard_error:8.4f}')

# Is the coefficient of speed 1? And do speed and its square have no effect, together?
test = robust.test_hypothesis('speed = 1')
print(f't = {test.t_values[0]:.4f}, p = {test.p_values[0]:.4f}')
print(robust.test_hypothesis('speed = 0, square = 0'))

# Against a smaller model of the same samples: R's anova (smaller, larger).
line = aprender.LinearRegression().fit([row[:1] for row in X], distance).get_statistics()
print(f'{line.residual_sum_of_squares:.0f} {statistics.residual_sum_of_squares:.0f}', statistics.compare(line))

# The samples that weigh most. First those whose leverage is 1, if there are some: their Cook's distance is NaN.
diagnostics = model.diagnose(X, distance)
far = diagnostics.cooks_distances
worst = sorted(range(50), key=lambda i: (not math.isnan(far[i]), -far[i]))[:3]
print(worst, f'Durbin-Watson {diagnostics.durbin_watson:.4f}')

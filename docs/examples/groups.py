# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

# Rents by square metres, each in its city.
areas = [[50], [80], [60], [120], [65], [95], [30]]
rents = [510, 810, 740, 1210, 800, 960, 450]
cities = ['Rome', 'Rome', 'Oslo', 'Rome', 'Oslo', 'Rome', 'Bern']

fits = aprender.LinearRegression().fit_groups(areas, rents, cities)
for i, city in enumerate(fits.labels):
    print(f'{city}: {fits.intercepts[i][0]:g} + {fits.coefficients[i][0]:g} x, rank {fits.ranks[i]}')

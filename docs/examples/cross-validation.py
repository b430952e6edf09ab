# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

# The rents of flats by square metres and rooms, in districts.
flats = [[54, 2], [38, 1], [81, 3], [61, 2], [72, 3], [45, 2], [95, 4], [50, 2], [66, 3], [84, 3], [40, 1], [70, 3]]
rents = [1010, 765, 1420, 790, 905, 640, 1130, 735, 910, 1105, 640, 1260]
districts = ['centre'] * 3 + ['north'] * 4 + ['south'] * 4 + ['centre']

folds = aprender.Folds(flats, rents, folds=districts)
for alpha in 0, 1000, 10000:
    model = aprender.LinearRegression(alpha=alpha)
    errors = model.cross_validate(folds, 'root-mean-squared-error')
    print('alpha {}: wrong by {:.1f}, {:.1f} and {:.1f}'.format(alpha, *errors))

# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
from gi.repository import Gio

file = Gio.File.new_for_path('flats.csv')

# Each value of a text column becomes a feature: 1 in the rows that have it, 0 in the others.
districts = aprender.TableReader.new_for_file(file).read_categories(['district'])
reader = aprender.TableReader.new_for_file(file)
reader.features = ['area', 'rooms', *districts]
reader.targets = ['rent']

# However long the table is, no more than some blocks of rows are in memory.
state = aprender.CrossProducts.new(len(reader.features), 1)
state.set_feature_names(reader.features)
for x, y, _ in reader:
    state.update(x, y)

model = aprender.LinearRegression(keep_state=True).fit_cross_products(state)
for term in model.get_statistics():
    print(f'{term.name:15} {term.estimate:9.3f} {term.standard_error:8.3f}')
print(reader.n_rows, 'rows')

# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

# A part of the samples is summed up where it is, gets a name, and is sent as bytes.
other = aprender.CrossProducts.new(2, 1).update([[3, 4], [4, 3]], [11, 10])
other.set_identity('Tuesday')
sent = bytes(other.to_bytes().get_data())

state = aprender.CrossProducts.new(2, 1).update([[1, 2], [2, 1]], [5, 4])
state.set_identity('Monday')
state.merge_bytes(sent)
try:
    state.merge_bytes(sent)
except ValueError as error:
    print(error)

model = aprender.LinearRegression().fit_cross_products(state)
print(state.get_identities(), state.n_samples, model.coefficients, model.intercept)
print(model.predict_one([5, 6]))

# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

# Rents, by square metres and rooms.
X = [[50, 1], [80, 2], [120, 3], [65, 2], [95, 4]]
y = [520, 840, 1260, 690, 1030]

model = aprender.LinearRegression(keep_state=True).fit(X, y)
model.save('rents.safetensors')

later = aprender.LinearRegression.load('rents.safetensors')
later.partial_fit([[70, 2], [100, 3]], [735, 1050])
print(later.summary())
print(later.get_statistics().standard_errors)
lower, upper = later.predict_interval([[85, 3]], level=0.9)
print(lower, later.predict([[85, 3]]), upper)

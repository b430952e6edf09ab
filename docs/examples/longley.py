#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loads a model, predicts the rows of a CSV file, and prints a hash of the predictions."""
import csv
import hashlib
import sys

import gi

gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402

model = Apr.LinearRegression.load(sys.argv[1])
with open(sys.argv[2], newline='', encoding='utf-8') as file:
    rows = list(csv.DictReader(file))

names = model.feature_names or list(rows[0])[1:]
# Its columns are in the order of the model's names, of which a tensor has none.
X = Apr.Tensor([[float(row[name]) for name in names] for row in rows])
predictions = Apr.Tensor(model.predict(X))

# Predictions that came as a list, where there is no numpy, have forgotten the model's dtype.
predictions = predictions.cast(model.get_coefficients().dtype)
print('sha256 ', hashlib.sha256(predictions.get_bytes().get_data()).hexdigest())

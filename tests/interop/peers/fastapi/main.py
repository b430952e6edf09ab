# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a Python program does to predict over HTTP with scikit-learn: coefficients 1 to 10 and the intercept 0.5.

Usage: main.py PORT
"""

import sys

import fastapi
import numpy
import pydantic
import uvicorn
from sklearn.linear_model import LinearRegression

model = LinearRegression()
model.coef_ = numpy.arange(1.0, 11.0)
model.intercept_ = 0.5
app = fastapi.FastAPI()


class One(pydantic.BaseModel):
    features: list[float]


class Many(pydantic.BaseModel):
    features: list[list[float]]


@app.post('/predict')
async def predict(request: One):
    return {'prediction': float(model.predict([request.features])[0])}


@app.post('/batch')
async def predict_many(request: Many):
    return {'prediction': model.predict(request.features).tolist()}


uvicorn.run(app, host='127.0.0.1', port=int(sys.argv[1]), log_level='warning')

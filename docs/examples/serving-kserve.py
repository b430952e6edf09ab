# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio
import sys

import numpy
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig


async def main(url):
    client = InferenceRESTClient(RESTConfig(protocol='v2'))
    rows = InferInput('X', [2, 2], 'FP64')
    rows.set_data_from_numpy(numpy.array([[85.0, 3], [40, 1]]), binary_data=False)
    answer = await client.infer(url, InferRequest('rents', [rows]), model_name='rents')
    print(answer.outputs[0].as_numpy())
    await client.close()


asyncio.run(main(sys.argv[1]))

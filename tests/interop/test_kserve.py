# SPDX-License-Identifier: LGPL-2.1-or-later
"""`aprender serve` as the clients of KServe and of Triton see it, which speak the Open Inference Protocol.

    with-peer kserve test_kserve.py
"""

import asyncio
import itertools
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / 'serve'))
import server

import numpy
import tritonclient.http
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig

ROWS = numpy.array([[1.0, 2, 3], [0, 0, 0]])
# y = 2 a + 3 b + 1.5 c + 0.5
PREDICTIONS = [13, 0.5]


def start(folder):
    path = os.path.join(folder, 'plane.safetensors')
    server.write_model(path)
    return server.Server(path)


def test_kserve(folder):
    async def ask(url):
        client = InferenceRESTClient(RESTConfig(protocol='v2', retries=1))
        try:
            assert await client.is_server_live(url)
            assert await client.is_server_ready(url)
            assert await client.is_model_ready(url, 'plane')
            for (datatype, numpy_type), binary in itertools.product((('FP64', 'f8'), ('FP32', 'f4'), ('INT64', 'i8')), (False, True)):
                rows = InferInput('X', list(ROWS.shape), datatype)
                rows.set_data_from_numpy(ROWS.astype(numpy_type), binary_data=binary)
                answer = await client.infer(url, InferRequest('plane', [rows], request_id='seven'), model_name='plane')
                output = answer.outputs[0]
                assert (answer.id, answer.model_name) == ('seven', 'plane'), answer
                assert (output.name, output.datatype, list(output.shape)) == ('predictions', 'FP32', [2]), output
                assert output.as_numpy().tolist() == PREDICTIONS, output
        finally:
            await client.close()

    with start(folder) as program:
        asyncio.run(ask(f'http://127.0.0.1:{program.port}'))


def test_page(folder):
    """The program that the page about serving shows."""
    path = os.path.join(folder, 'rents.safetensors')
    server.write_model(path, coefficients=(10, 20), intercept=1)
    program = pathlib.Path(__file__).parents[2] / 'docs' / 'examples' / 'serving-kserve.py'
    with server.Server(path) as running:
        answer = subprocess.run([sys.executable, program, f'http://127.0.0.1:{running.port}'], stdout=subprocess.PIPE,
                                encoding='utf-8', check=True)
    assert answer.stdout == '[911. 421.]\n', answer.stdout


def test_triton(folder):
    with start(folder) as program, tritonclient.http.InferenceServerClient(f'127.0.0.1:{program.port}') as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready('plane')
        assert client.get_server_metadata()['name'] == 'aprender'
        metadata = client.get_model_metadata('plane')
        assert metadata['inputs'][0] == {'name': 'X', 'datatype': 'FP32', 'shape': [-1, 3]}, metadata
        rows = tritonclient.http.InferInput('X', list(ROWS.shape), 'FP64')
        rows.set_data_from_numpy(ROWS, binary_data=False)
        answer = client.infer('plane', [rows], outputs=[tritonclient.http.InferRequestedOutput('predictions', binary_data=False)])
        assert answer.as_numpy('predictions').tolist() == PREDICTIONS, answer.get_response()
        # The client asks for its binary extension unless it is told not to; a server without it may answer with JSON.
        assert client.infer('plane', [rows]).as_numpy('predictions').tolist() == PREDICTIONS
        try:
            client.infer('other', [rows])
            raise AssertionError('there is no such model')
        except tritonclient.http.InferenceServerException as error:
            assert 'no model “other”' in str(error), error


def test_triton_binary(folder):
    """What Triton's client does unless it is told not to: numbers as they are in memory, after the JSON."""
    with start(folder) as program, tritonclient.http.InferenceServerClient(f'127.0.0.1:{program.port}') as client:
        rows = tritonclient.http.InferInput('X', list(ROWS.shape), 'FP64')
        rows.set_data_from_numpy(ROWS)
        assert client.infer('plane', [rows]).as_numpy('predictions').tolist() == PREDICTIONS
        rows.set_data_from_numpy(numpy.array([[1.0, numpy.nan, 3], [0, 0, 0]]))
        try:
            client.infer('plane', [rows])
            raise AssertionError('a NaN has no prediction')
        except tritonclient.http.InferenceServerException as error:
            assert error.status() == '400' and 'NaN' in str(error), (error.status(), str(error))


server.run([test_kserve, test_page, test_triton, test_triton_binary])

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`aprender serve` as its clients and its operator see it."""

import os
import socket
import subprocess

import server
from server import Server, write_model


def make(folder, name='plane', **options):
    path = os.path.join(folder, f'{name}.safetensors')
    write_model(path, **options)
    return path


def test_realizar(folder):
    with Server(make(folder)) as program:
        status, answer = program.ask_json('POST', '/predict', {'features': [1, 2, 3]})
        assert status == 200 and answer['prediction'] == 13.0, answer
        assert answer['latency_ms'] >= 0 and answer['model_version'] == '1', answer
        status, answer = program.ask_json('GET', '/models')
        assert status == 200 and [model['id'] for model in answer['models']] == ['plane'], answer
        status, answer = program.ask_json('GET', '/health')
        assert status == 200 and answer['status'] == 'healthy', answer
        assert program.stop() == 0


def test_errors(folder):
    with Server(make(folder)) as program:
        status, answer = program.ask_json('POST', '/predict', {'features': [1, 2]})
        assert (status, answer['error']) == (400, 'features: expected 3 numbers, got 2'), answer
        status, headers, _ = program.ask('GET', '/predict')
        assert status == 405 and headers['Allow'] == 'POST', headers
        status, answer = program.ask_json('GET', '/nothing')
        assert status == 404 and '/nothing' in answer['error'], answer


def test_keep_alive(folder):
    with Server(make(folder)) as program:
        connection = program.open()
        for i in range(100):
            connection.request('POST', '/predict', f'{{"features": [{i}, 0, 0]}}')
            assert f'"prediction":{2 * i + .5:g},' in connection.getresponse().read().decode()
        connection.close()


def test_unix_socket(folder):
    path = os.path.join(folder, 'socket')
    for _ in range(2):
        with Server(make(folder), listen=f'unix:{path}') as program:
            assert program.predict([1, 2, 3]) == 13
            # The next one finds the socket of a program that did not end as it should.
            program.process.kill()
            program.process.wait()
        assert os.path.exists(path)
    with Server(make(folder), listen=f'unix:{path}') as program:
        assert program.predict([1, 2, 3]) == 13
        assert program.stop() == 0
    assert not os.path.exists(path)


def test_socket_activation(folder):
    listening = socket.create_server(('127.0.0.1', 0))
    # As systemd does it: the socket is file 3, and LISTEN_PID the process that will be the program.
    script = f'exec 3<&{listening.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve "$1"'
    process = subprocess.Popen(['sh', '-c', script, server.TOOL, make(folder)], pass_fds=[listening.fileno()],
                               stderr=subprocess.PIPE)
    with socket.create_connection(listening.getsockname()) as connection:
        connection.sendall(b'GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        assert b'healthy' in connection.makefile('rb').read()
    process.terminate()
    assert process.wait(timeout=30) == 0
    process.stderr.close()


def test_usage(folder):
    def fails(status, message, *arguments):
        result = subprocess.run([server.TOOL, 'serve', *arguments], capture_output=True, encoding='utf-8', timeout=30,
                                check=False)
        assert result.returncode == status and message in result.stderr, result

    path = make(folder)
    fails(1, 'No such file', os.path.join(folder, 'nothing'))
    fails(1, f'would both be the model “plane”', path, path)
    fails(1, 'expected HOST:PORT or unix:PATH', path, '--listen', 'nonsense')
    fails(2, '--max-body must be at least 1 byte, got 0', path, '--max-body', '0')
    fails(2, '--timeout must be at least 1 second, got 0', path, '--timeout', '0')
    with Server(path) as program:
        fails(1, 'Address already in use', path, '--listen', f'127.0.0.1:{program.port}')


server.run([test_realizar, test_errors, test_keep_alive, test_unix_socket, test_socket_activation, test_usage])

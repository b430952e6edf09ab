# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of `aprender serve` share: the program on a free port, requests, and a runner of tests."""

import fcntl
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

TOOL = os.environ['APR_TOOL']
# Sanitizers take memory of their own.
SANITIZED = os.environ.get('APR_SANITIZED') == '1'
# So many seconds are too long for any answer; under a sanitizer, on a busy machine, a long request takes a while.
PATIENCE = 300 if SANITIZED else 30

# The file of realizar's own tests, white space included: y = 2 a + 3 b + 1.5 c + 0.5.
REALIZAR_HEADER = b'''{
  "coefficients": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
  "intercept": {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}
}'''


def model_bytes(coefficients=(2, 3, 1.5), intercept=0.5, names=None):
    header = REALIZAR_HEADER
    if len(coefficients) != 3:
        size = 4 * len(coefficients)
        header = json.dumps({'coefficients': {'dtype': 'F32', 'shape': [len(coefficients)], 'data_offsets': [0, size]},
                             'intercept': {'dtype': 'F32', 'shape': [1], 'data_offsets': [size, size + 4]}}).encode()
    if names:
        metadata = {'aprender.model': 'AprLinearRegression', 'aprender.format': '1', 'aprender.feature_names': json.dumps(names)}
        header = json.dumps({'__metadata__': metadata, **json.loads(header)}).encode()
    return struct.pack('<Q', len(header)) + header + struct.pack(f'<{len(coefficients) + 1}f', *coefficients, intercept)


def write_model(path, *args, **options):
    """As a careful program does: readers find the old file or the new one."""
    temporary = f'{path}.tmp'
    with open(temporary, 'wb') as file:
        file.write(model_bytes(*args, **options))
    os.rename(temporary, path)


def wait_until_read(connection):
    """Until the program has read all that was sent: the kernel counts what it has not, though only of local sockets."""
    while struct.unpack('i', fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0] > 0:
        time.sleep(0.001)


class Server:
    """The program, which listens at a free port or where the arguments say."""

    def __init__(self, *arguments, listen='127.0.0.1:0', env=None, pass_fds=(), preexec_fn=None):
        command = [TOOL, 'serve', *arguments] + (['--listen', listen] if listen else [])
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding='utf-8', pass_fds=pass_fds,
                                        preexec_fn=preexec_fn, env=dict(os.environ, **(env or {})))
        self.log = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        match = self.wait_for(r'message=listening address=(http://(\S+):(\d+)|unix:(\S+))')
        self.host, self.port, self.path = match[2], match[3] and int(match[3]), match[4]

    def _read_log(self):
        for line in self.process.stderr:
            with self.changed:
                self.log.append(line.rstrip('\n'))
                self.changed.notify_all()
        with self.changed:
            self.log.append(None)
            self.changed.notify_all()

    def wait_for(self, pattern, n=1, seconds=PATIENCE):
        """The nth line of the log that has this pattern, as a match."""
        def find():
            matches = [match for line in self.log if line is not None and (match := re.search(pattern, line))]
            if len(matches) < n and None in self.log:
                raise AssertionError(f'the program has ended, and said: {self.log}')
            return matches[n - 1] if len(matches) >= n else None
        with self.changed:
            assert self.changed.wait_for(find, timeout=seconds), f'{pattern} is not in the log: {self.log}'
            return find()

    def connect(self, timeout=PATIENCE):
        if self.path:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(timeout)
            connection.connect(self.path)
            return connection
        return socket.create_connection((self.host, self.port), timeout=timeout)

    def open(self):
        connection = http.client.HTTPConnection('localhost', timeout=PATIENCE)
        connection.sock = self.connect()
        return connection

    def ask(self, method, path, body=None, headers=None):
        """The status, the headers and the body of an answer."""
        connection = self.open()
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def ask_json(self, method, path, body=None, headers=None):
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        status, received, text = self.ask(method, path, body, headers)
        assert received['Content-Type'] == 'application/json', received
        return status, json.loads(text)

    def predict(self, features):
        status, answer = self.ask_json('POST', '/predict', {'features': features})
        assert status == 200, answer
        return answer['prediction']

    def send(self, data):
        """All that comes back for these bytes until the server closes."""
        with self.connect() as connection:
            connection.sendall(data)
            received = b''
            while chunk := connection.recv(65536):
                received += chunk
            return received

    def stop(self):
        """Asks it to end, and returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            status = self.stop()
            # A sanitizer that has found something says so here.
            assert status == 0, (status, self.log)


def run(tests):
    """Runs the functions, each with a folder of its own, and prints what became of them."""
    harness.run(tests, with_folder=True)

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`aprender serve` beside axum (Rust) and FastAPI with scikit-learn, on loopback, in turn.

Usage: serve.py APRENDER LOAD VERSION

One row of 10 features, 10,000 times a second at random moments (1,000 for FastAPI, which cannot do more); batches as
fast as they are answered; a model that is replaced under load; and the time from start to the first prediction.
"""

import json
import os
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import rounds

N_ROUNDS = 3
SECONDS = 5
N_ROWS = 100
EXPECTED = 390.5

aprender, load, version = sys.argv[1:]
here = pathlib.Path(__file__).parent
peers = pathlib.Path(os.environ['APRENDER_PEER']).parent
folder = pathlib.Path(tempfile.mkdtemp())
model = folder / 'ten.safetensors'


def safetensors(**tensors):
    header, data = {}, b''
    for name, (shape, values) in tensors.items():
        header[name] = {'dtype': 'F64', 'shape': shape, 'data_offsets': [len(data), len(data) + 8 * len(values)]}
        data += struct.pack(f'<{len(values)}d', *values)
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    return struct.pack('<Q', len(text)) + text + data


def write_model(factor=1):
    path = folder / 'new'
    path.write_bytes(safetensors(coefficients=([10], [factor * i for i in range(1, 11)]), intercept=([1], [0.5 * factor])))
    path.rename(model)


def write(name, contents):
    (folder / name).write_bytes(contents)
    return folder / name


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as listening:
        return listening.getsockname()[1]


ROW = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5]
ONE = write('one.json', json.dumps({'features': ROW}).encode())
# Numbers as programs print them.
NUMBERS = [[(i * 7919 + j * 104729) % 1000003 / 1000003 for j in range(10)] for i in range(N_ROWS)]
MANY = write('many.json', json.dumps({'features': NUMBERS[:-1] + [ROW]}).encode())


def matrix(n):
    rows = [NUMBERS[i % N_ROWS] for i in range(n)]
    return write(f'{n}.safetensors', safetensors(X=([n, 10], [value for row in rows for value in row])))


class Server:
    def __init__(self, name, command, batch='/predict'):
        self.name = name
        self.batch = batch
        self.port = free_port()
        began = time.perf_counter()
        self.process = subprocess.Popen([*map(str, command), str(self.port)] if name != 'aprender' else
                                        [*map(str, command), '--listen', f'127.0.0.1:{self.port}'])
        self.first = self.ask_first(began)

    def ask_first(self, began):
        """The seconds until it has predicted once."""
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}/predict', ONE.read_bytes(),
                                         {'Content-Type': 'application/json'})
        while True:
            try:
                with urllib.request.urlopen(request) as response:
                    assert json.load(response)['prediction'] == EXPECTED
                    return time.perf_counter() - began
            except OSError:
                # One that cannot start would be waited for without end.
                if self.process.poll() is not None:
                    raise RuntimeError(f'{self.name} has ended with status {self.process.returncode}') from None
                time.sleep(0.0005)

    def cpu(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f'/proc/{self.process.pid}/stat').read_text(encoding='ascii').rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def count(self):
        """The server's own metrics."""
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/metrics') as response:
            lines = response.read().decode().splitlines()
        return {line.split('{')[0].split(' ')[0]: float(line.rsplit(' ', 1)[1]) for line in lines if not line.startswith('#')}

    def load(self, connections, rate, seconds, path, kind, body, expected):
        """Answers a second, seconds of processor time for each, wrong answers, and the 99th percentile in seconds."""
        before = self.cpu()
        result = subprocess.run([load, str(self.port), str(connections), str(rate), str(seconds), path, kind, str(body), expected],
                                stdout=subprocess.PIPE, encoding='ascii', check=False)
        n, n_wrong, elapsed, _, p99, *_ = map(float, result.stdout.split())
        return {'rate': n / elapsed, 'cpu': (self.cpu() - before) / n, 'wrong': int(n_wrong), 'p99': p99 / 1e6, 'n': int(n)}

    def stop(self):
        self.process.terminate()
        self.process.wait()


def median(results, key):
    return statistics.median(result[key] for result in results)


ROWS = []


def compare(title, servers, ask, show):
    """Asks all in turn, and shows medians and the ratios of each turn."""
    results = {server.name: [] for server in servers}
    for _ in range(N_ROUNDS):
        for server in servers:
            results[server.name].append(ask(server))
    for name, found in results.items():
        assert not any(result['wrong'] for result in found), (title, name)
        print(f'{title}, {name}: {show(found)}', flush=True)
    own = results['aprender']
    ROWS.append((title, *(rounds.show(median(results[server], 'p99')) if server in results else '' for server in ('aprender', 'axum')),
                 *(f'{statistics.median(a["cpu"] / b["cpu"] for a, b in zip(own, results[server])):.2f}' if server in results else ''
                   for server in ('axum', 'FastAPI'))))
    for name, found in results.items():
        if name != 'aprender':
            print(f'{title}, aprender / {name}: ' + ', '.join(
                f'{key} {statistics.median(a[key] / b[key] for a, b in zip(own, found)):.2f}' for key in ('cpu', 'rate')),
                flush=True)


def show_latency(found):
    return (f'p99 {rounds.show(median(found, "p99"))} ({", ".join(rounds.show(r["p99"]) for r in found)}), '
            f'{rounds.show(median(found, "cpu"))} of processor a request')


def show_rows(n):
    return lambda found: (f'{median(found, "rate") * n / 1e6:.2f} million predictions a second, '
                          f'{n / median(found, "cpu") / 1e6:.2f} million in a second of processor')


def measure_reloads(server):
    """How long it takes from when a file is replaced until its model predicts."""
    times = []
    with socket.create_connection(('127.0.0.1', server.port)) as connection:
        body = ONE.read_bytes()
        for factor in range(2, 42):
            write_model(factor)
            began = time.perf_counter()
            answer = b''
            while f'"prediction":{EXPECTED * factor:.17g},'.encode() not in answer:
                connection.sendall(b'POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s' % (len(body), body))
                answer = connection.recv(4096)
            times.append(time.perf_counter() - began)
    write_model()
    print(f'a replaced model predicts after {rounds.show(statistics.median(times))}, at most {rounds.show(max(times))}')


def reload_under_load(server):
    done = threading.Event()

    def replace():
        while not done.wait(1.1):
            write_model()

    before = server.count()
    thread = threading.Thread(target=replace)
    thread.start()
    try:
        # It fails where an answer is not the one that is expected, and where a connection is closed.
        result = server.load(16, 10000, 12, '/predict', 'application/json', ONE, f'"prediction":{EXPECTED},')
    finally:
        done.set()
        thread.join()
    after = server.count()
    n_reloads = after['aprender_model_generation'] - before['aprender_model_generation']
    assert result['wrong'] == 0, result
    for name in 'aprender_errors_total', 'aprender_model_load_failures_total':
        assert after[name] == before[name], (name, before[name], after[name])
    assert result['n'] > 100000 and n_reloads >= 10, (result, n_reloads)
    print(f'12 s at 10,000 a second across {n_reloads:.0f} reloads: {result["n"]} answers, none wrong, no error, '
          f'p99 {rounds.show(result["p99"])}')


def main():
    write_model()
    print(f'# aprender {version}, {rounds.machine()}, load {os.getloadavg()[0]:.1f}')
    own = Server('aprender', [aprender, 'serve', model, '--threads', '2'])
    axum = Server('axum', [peers / 'axum' / 'release' / 'serve'], '/batch')
    fastapi = Server('FastAPI', [peers / 'fastapi' / 'bin' / 'python3', here.parent / 'interop' / 'peers' / 'fastapi' / 'main.py'],
                     '/batch')
    servers = [own, axum, fastapi]
    for server in servers:
        print(f'first prediction after start, {server.name}: {rounds.show(server.first)}')
    starts = [Server('aprender', [aprender, 'serve', model]) for _ in range(5)]
    print(f'first prediction after start, aprender, 5 more: {", ".join(rounds.show(server.first) for server in starts)}')
    for server in starts:
        server.stop()

    one = ('/predict', 'application/json', ONE, f'"prediction":{EXPECTED}')
    for connections in 16, 64:
        compare(f'10,000 a second, {connections} connections', [own, axum],
                lambda server, n=connections: server.load(n, 10000, SECONDS, *one), show_latency)
    compare('1,000 a second, 16 connections', servers, lambda server: server.load(16, 1000, SECONDS, *one), show_latency)
    compare(f'JSON, {N_ROWS} rows of 10, 4 connections', servers,
            lambda server: server.load(4, 0, SECONDS, server.batch, 'application/json', MANY, f',{EXPECTED}]'), show_rows(N_ROWS))
    for n in 100, 1000:
        compare(f'SafeTensors, {n} rows of 10, 4 connections', [own],
                lambda server, n=n: server.load(4, 0, SECONDS, '/predict', 'application/octet-stream', matrix(n), 'predictions'),
                show_rows(n))
    reload_under_load(own)
    measure_reloads(own)
    rounds.print_table(('requests', 'p99', 'p99 of axum', 'processor time by axum\'s', 'by FastAPI\'s'), ROWS)
    for server in servers:
        server.stop()


main()

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`aprender serve` as its clients and its operator see it."""

import contextlib
import fcntl
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import server
from server import Server, write_model


def ask_local(path, route):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b'GET ' + route + b' HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        return connection.makefile('rb').read()


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


def test_query_and_encoding(folder):
    body = '{"features":[1,2,3]}'
    with Server(make(folder)) as program:
        for path, status in (('/predict?model_id=plane', 200), ('/predict?model_id=nope', 404)):
            found, answer = program.ask_json('POST', path, body)
            assert found == status, (path, answer)
        for encoding, status in (('identity', 200), ('gzip', 415)):
            found, headers, answer = program.ask('POST', '/predict', body, {'Content-Encoding': encoding})
            assert found == status, (encoding, answer)
            assert headers['Accept-Encoding'] == ('identity' if status == 415 else None), headers


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


@contextlib.contextmanager
def ending(process):
    """A program that is to end in peace, and ends in any case."""
    with process:
        try:
            yield process
            process.terminate()
            assert process.wait(timeout=server.PATIENCE) == 0
        finally:
            process.kill()


def wait_until(is_so):
    deadline = time.monotonic() + server.PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_closed_files(folder):
    """What is opened where the standard files were closed, such as a connection, is not taken for the log."""
    path = os.path.join(folder, 'socket')
    command = ['sh', '-c', 'exec "$0" serve "$1" --listen "unix:$2" <&- >&- 2>&-', server.TOOL, make(folder), path]
    with ending(subprocess.Popen(command)) as process:
        wait_until(lambda: os.path.exists(path))
        assert os.readlink(f'/proc/{process.pid}/fd/2') == '/dev/null'


def test_nobody_reads_the_log(folder):
    """The server stays when the program that read its log has ended."""
    path = os.path.join(folder, 'socket')
    command = [server.TOOL, 'serve', make(folder), '--listen', f'unix:{path}']
    with ending(subprocess.Popen(command, stderr=subprocess.PIPE)) as process:
        while b'message=listening' not in (line := process.stderr.readline()):
            assert line, process.wait(timeout=server.PATIENCE)
        process.stderr.close()
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: process.poll() is not None or b'"version":"2"' in ask_local(path, b'/models'))


@contextlib.contextmanager
def logging_to_pipe(models, path, env=None):
    """A program whose log goes to a pipe that holds little, and the end of it that nobody reads yet."""
    command = [server.TOOL, 'serve', *models, '--listen', f'unix:{path}']
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with open(reading, encoding='utf-8') as log, open(writing, 'wb') as error:
        with ending(subprocess.Popen(command, stderr=error, env=dict(os.environ, **(env or {})))) as process:
            error.close()
            yield process, log


def test_nobody_empties_the_log(folder):
    """A server ends when it is told to, though whoever has its log does not read it."""
    path, model = os.path.join(folder, 'socket'), make(folder)
    # More lines than a pipe holds.
    models = [f'model-{n}-{"x" * 100}={model}' for n in range(1000)]
    with logging_to_pipe(models, path) as (process, log):
        wait_until(lambda: os.path.exists(path))
        process.terminate()
        process.wait(timeout=server.PATIENCE)
        for line in log:
            assert re.fullmatch('time=.* message=loaded .*\n', line), line


def test_line_that_is_cut(folder):
    """A line of which the end was given up takes no other with it."""
    address = os.path.join(folder, 'notify')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(server.PATIENCE)
        models = ['x' * 5000 + f'={make(folder)}']
        with logging_to_pipe(models, os.path.join(folder, 'socket'), env={'NOTIFY_SOCKET': address}) as (process, log):
            assert manager.recv(100) == b'READY=1'
            assert os.read(log.fileno(), 8192).endswith(b'xxx')
            process.terminate()
            process.wait(timeout=server.PATIENCE)
            assert re.fullmatch('\ntime=.* message=stopping\n', rest := log.read()), rest


def activate(folder, passed):
    """The program as systemd starts it: the socket is file 3, and LISTEN_PID the process that will be the program."""
    script = f'exec 3<&{passed.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve "$1"'
    return subprocess.Popen(['sh', '-c', script, server.TOOL, make(folder)], pass_fds=[passed.fileno()],
                            stderr=subprocess.PIPE, encoding='utf-8')


def test_socket_activation(folder):
    abstract = f'aprender-test-{os.getpid()}'
    for family, address, name in ((socket.AF_INET, ('127.0.0.1', 0), 'http://127.0.0.1:'),
                                  (socket.AF_UNIX, os.path.join(folder, 'socket'), f'unix:{folder}/socket '),
                                  (socket.AF_UNIX, f'\0{abstract}', f'unix:@{abstract} ')):
        with socket.socket(family) as listening, socket.socket(family) as connection:
            listening.bind(address)
            listening.listen()
            with ending(activate(folder, listening)) as process:
                connection.connect(listening.getsockname())
                connection.sendall(b'GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
                assert b'healthy' in connection.makefile('rb').read()
                process.terminate()
                log = process.stderr.read()
            assert f' message=listening address={name}' in log, log


def test_socket_that_does_not_listen(folder):
    """What systemd passes with Accept=yes, or for datagrams."""
    one, other = socket.socketpair()
    with one, other, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        for passed in one, datagrams:
            with activate(folder, passed) as process:
                try:
                    assert process.wait(timeout=server.PATIENCE) == 1
                finally:
                    process.kill()
                log = process.stderr.read()
            assert log == 'aprender: File 3 of systemd is no socket that listens: it needs ListenStream= and Accept=no\n', log


def test_notify(folder):
    """What systemd waits for where a unit has Type=notify: in a folder, and in the abstract namespace."""
    for address in (os.path.join(folder, 'notify'), f'\0aprender-test-{os.getpid()}'):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            manager.settimeout(30)
            with Server(make(folder), env={'NOTIFY_SOCKET': address.replace('\0', '@')}) as program:
                assert manager.recv(100) == b'READY=1'
                assert program.predict([1, 2, 3]) == 13
                assert program.stop() == 0
                assert manager.recv(100) == b'STOPPING=1'
    with Server(make(folder), env={'NOTIFY_SOCKET': os.path.join(folder, 'nobody')}) as program:
        program.wait_for('level=warning .*cannot be told')
        assert program.predict([1, 2, 3]) == 13


def take_journal(folder):
    """The program's messages in a journal of its own, with their fields; for a process that has a /run of its own."""
    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', '/run'], check=True)
    os.makedirs('/run/systemd/journal')
    path = make(folder)
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as error, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        listening.bind('/run/systemd/journal/stdout')
        listening.listen()
        journal.bind('/run/systemd/journal/socket')
        journal.settimeout(server.PATIENCE)
        error.connect('/run/systemd/journal/stdout')

        def take():
            return dict(line.split('=', 1) for line in journal.recv(10000).decode().splitlines())

        with subprocess.Popen([server.TOOL, 'serve', path, '--listen', f'unix:{folder}/socket'], stderr=error) as process:
            loaded, began = take(), take()
            with open(f'{path}.new', 'w', encoding='ascii') as file:
                file.write('broken')
            os.rename(f'{path}.new', path)
            refused = take()
            process.terminate()
            ended = take()
    assert process.returncode == 0
    assert loaded['MESSAGE'] == f'loaded model=plane path={path} form="1 target, 3 features"', loaded
    assert began['MESSAGE'] == f'listening address=unix:{folder}/socket threads={began["APRENDER_THREADS"]}', began
    assert (began['PRIORITY'], began['SYSLOG_IDENTIFIER']) == ('6', 'aprender'), began
    assert refused['MESSAGE'].startswith('the new file cannot be loaded, the old model stays model=plane version=1 error="'), refused
    assert (refused['PRIORITY'], refused['APRENDER_MODEL']) == ('4', 'plane'), refused
    assert ended['MESSAGE'] == 'stopping', ended


def test_journal(folder):
    """Whoever reads the journal sees what a message is about, without asking for its fields."""
    alone = ['unshare', '--map-root-user', '--mount']
    if subprocess.run([*alone, 'mount', '-t', 'tmpfs', 'tmpfs', '/run'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return 'a /run of its own is not allowed'
    subprocess.run([*alone, sys.executable, __file__, 'take-journal', folder], check=True)
    return None


def test_units(folder):
    """systemd knows all that the units say, and what the page has people add to them, and the commands are there."""
    if 'APR_UNITS' not in os.environ:
        return 'there is no systemd-analyze'
    units = os.environ['APR_UNITS'].split(':')

    def verify(*units):
        result = subprocess.run(['systemd-analyze', '--man=no', 'verify', *units], stderr=subprocess.PIPE, encoding='utf-8',
                                check=False)
        found = [line for line in result.stderr.splitlines() if 'aprender.s' in line]
        assert result.returncode == 0 and found == [], result.stderr

    verify(*units)
    page = pathlib.Path(__file__).parents[2] / 'docs' / 'serving.md'
    additions = re.findall(r'^```ini\n(\[(\w+)\]\n.*?)^```$', page.read_text(encoding='utf-8'), re.MULTILINE | re.DOTALL)
    copies = [shutil.copy(unit, folder) for unit in units]
    for text, section in additions:
        addition = pathlib.Path(folder, f'aprender.{section.lower()}.d', 'override.conf')
        addition.parent.mkdir()
        addition.write_text(text, encoding='utf-8')
    assert len(additions) == 2, additions
    verify(*copies)
    return None


def test_threads(folder):
    """One for each processor that it may use, at least two; not for each that the machine has."""
    allowed = os.sched_getaffinity(0)

    def count(*arguments):
        with Server(make(folder), *arguments) as program:
            assert program.predict([1, 2, 3]) == 13
            return int(program.wait_for(r'message=listening .* threads=(\d+)')[1])

    assert count('--threads', '3') == 3
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert count() == 2
    finally:
        os.sched_setaffinity(0, allowed)


def test_usage(folder):
    def fails(status, message, *arguments):
        result = subprocess.run([server.TOOL, 'serve', *arguments], capture_output=True, encoding='utf-8', timeout=30,
                                check=False)
        assert result.returncode == status and message in result.stderr, result

    path = make(folder)
    fails(1, 'No such file', os.path.join(folder, 'nothing'))
    fails(1, f'would both be the model “plane”', path, path)
    fails(2, '--listen: nonsense: expected HOST:PORT or unix:PATH', path, '--listen', 'nonsense')
    for port in '65536', '4294967297', ' 80', '-1', 'http', '':
        fails(2, f'the port must be from 0 to 65535, got “{port}”', path, '--listen', f'127.0.0.1:{port}')
    fails(2, '--threads must be from 0 to 65535', path, '--threads', '65536')
    for size in 0, 2 ** 63 - 1:
        fails(2, f'--max-body must be from 1 to {sys.maxsize // 32} bytes, got {size}', path, '--max-body', str(size))
    for seconds in 0, 3000000000:
        fails(2, f'--timeout must be from 1 to 2147483647 seconds, got {seconds}', path, '--timeout', str(seconds))
    fails(1, '“a\ufffd” is not UTF-8, as the name of a model must be', os.fsencode(path), b'a\xff=' + os.fsencode(path))
    with Server(path) as program:
        fails(1, 'Address already in use', path, '--listen', f'127.0.0.1:{program.port}')


def fit(folder, table, *options):
    path = os.path.join(folder, 'fitted.safetensors')
    subprocess.run([server.TOOL, 'fit', '-', '--target', 'y', '-o', path, *options], input=table, encoding='utf-8',
                   stdout=subprocess.DEVNULL, check=True, timeout=30)
    return path


def test_names(folder):
    path = fit(folder, 'rooms,"square, metres",y\n1,2,8\n2,1,7\n3,5,21\n')
    with Server(path) as program:
        assert program.predict({'square, metres': 4, 'rooms': 3}) == program.predict([3, 4])
        assert program.predict([{'rooms': 1, 'square, metres': 2}, [2, 1]]) == program.predict([[1, 2], [2, 1]])
        status, answer = program.ask_json('POST', '/predict', {'features': {'rooms': 1, 'metres': 2}})
        assert status == 400 and 'no feature “metres”; its features are: rooms, square, metres' in answer['error'], answer


def test_interval(folder):
    """The textbook's formula, with Student's quantile for 3 degrees of freedom from a table."""
    x, y = [1, 2, 3, 4, 5], [2.1, 3.9, 6.2, 7.8, 10.1]
    table = 'x,y\n' + ''.join(f'{a},{b}\n' for a, b in zip(x, y))
    mean = sum(x) / 5
    squares = sum((a - mean) ** 2 for a in x)
    slope = sum((a - mean) * b for a, b in zip(x, y)) / squares
    intercept = sum(y) / 5 - slope * mean
    variance = sum((b - intercept - slope * a) ** 2 for a, b in zip(x, y)) / 3
    half = 3.182446305284263 * math.sqrt(variance * (1 + 1 / 5 + (7 - mean) ** 2 / squares))

    def check(answer):
        assert math.isclose(answer['prediction'], intercept + 7 * slope, rel_tol=1e-12), answer
        assert math.isclose(answer['lower'], intercept + 7 * slope - half, rel_tol=1e-9), answer
        assert math.isclose(answer['upper'], intercept + 7 * slope + half, rel_tol=1e-9), answer

    with Server(fit(folder, table, '--keep-state')) as program:
        status, answer = program.ask_json('POST', '/predict?interval=0.95', {'features': [7]})
        assert status == 200, answer
        check(answer)
        status, answer = program.ask_json('POST', '/predict/batch?interval=0.95', {'instances': [{'x': 7}]})
        assert status == 200, answer
        check(answer['predictions'][0])
        status, answer = program.ask_json('POST', '/v2/models/fitted/infer', {
            'inputs': [{'name': 'X', 'shape': [1, 1], 'datatype': 'FP64', 'data': [7]}], 'parameters': {'interval': 0.95}})
        assert status == 200, answer
        check({output['name'].replace('predictions', 'prediction'): output['data'][0] for output in answer['outputs']})
        for wrong in ('1', '0', 'much', 'nan', '', '-1'):
            status, answer = program.ask_json('POST', f'/predict?interval={wrong}', {'features': [7]})
            assert status == 400 and answer['error'].startswith('interval: expected a number between 0 and 1'), answer
    with Server(make(folder)) as program:
        status, answer = program.ask_json('POST', '/predict?interval=0.95', {'features': [1, 2, 3]})
        assert status == 400 and 'keep-state' in answer['error'], answer


def safetensors(**tensors):
    """A file of matrices and vectors of doubles."""
    header, data = {}, b''
    for name, (shape, values) in tensors.items():
        header[name] = {'dtype': 'F64', 'shape': shape, 'data_offsets': [len(data), len(data) + 8 * len(values)]}
        data += struct.pack(f'<{len(values)}d', *values)
    text = json.dumps(header).encode()
    return struct.pack('<Q', len(text)) + text + data


def test_safetensors(folder):
    headers = {'Content-Type': 'application/octet-stream'}
    body = safetensors(anything=([2, 3], [1, 2, 3, 0, 0, 0]))
    with Server(make(folder), make(folder, 'other', intercept=1)) as program:
        for path in ('/predict?model_id=plane', '/v2/models/plane/infer'):
            status, received, answer = program.ask('POST', path, body, headers)
            assert status == 200 and received['Content-Type'] == 'application/octet-stream', answer
            length, = struct.unpack('<Q', answer[:8])
            assert json.loads(answer[8:8 + length]) == {
                'predictions': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}}, answer
            assert struct.unpack('<2f', answer[8 + length:]) == (13, 0.5), answer

        def fails(status, message, body, path='/predict?model_id=plane'):
            found, answer = program.ask_json('POST', path, body, headers)
            assert found == status and message in answer['error'], answer

        fails(400, 'model_id is missing', body, '/predict')
        fails(404, 'no model “third”', body, '/predict?model_id=third')
        fails(400, 'body: ', b'nonsense')
        fails(400, '2', safetensors(X=([1, 2], [1, 2])))
        fails(400, 'X', safetensors(a=([1, 1], [1]), b=([1, 1], [1])))
        fails(400, 'NaN', safetensors(X=([1, 3], [1, math.nan, 3])))


def test_metrics(folder):
    with Server(make(folder)) as program:
        program.predict([[1, 2, 3], [1, 2, 3]])
        program.ask('GET', '/nothing')
        status, headers, text = program.ask('GET', '/metrics')
        assert status == 200 and headers['Content-Type'] == 'text/plain; version=0.0.4; charset=utf-8', headers
        lines = text.decode().splitlines()
        for line in ('aprender_requests_total{status="200"} 1', 'aprender_requests_total{status="404"} 1',
                     'aprender_errors_total 1', 'aprender_rows_total 2', 'aprender_model_generation{model="plane"} 1',
                     'aprender_request_duration_seconds_bucket{le="+Inf"} 2', 'aprender_request_duration_seconds_count 2'):
            assert line in lines, (line, lines)


def test_page(folder):
    path = fit(folder, 'rooms,<script>,y\n1,2,8\n2,1,7\n3,5,21\n4,4,20\n5,6,28\n', '--keep-state')
    with Server(f'a&b={path}') as program:
        status, headers, text = program.ask('GET', '/')
        page = text.decode()
        assert status == 200 and headers['Content-Type'] == 'text/html; charset=utf-8', headers
        assert page.count('<script>') == 1 and '&lt;script&gt;' in page and 'data-model="a&amp;b"' in page, page
        assert page.count('<input ') == 2 and 'Pr(&gt;|t|)' in page, page
        # Browsers ask for /favicon.ico otherwise, which would count as an error.
        assert '<link rel="icon" href="data:,">' in page, page
    # A model without statistics has its numbers alone.
    with Server(make(folder)) as program:
        page = program.ask('GET', '/')[2].decode()
        assert ('<tr><th>Feature 1</th><td>3</td></tr>' in page and
                '<tr><th>(Intercept)</th><td>0.5</td></tr>' in page), page


def test_token(folder):
    token = os.path.join(folder, 'token')
    with open(token, 'w', encoding='utf-8') as file:
        file.write('correct horse\nand what follows\n')
    with Server(make(folder), '--token-file', token) as program:
        for wrong in (None, 'Bearer', 'Bearer ', 'Bearer correct hors', 'Bearer correct horse ', 'Basic correct horse',
                      'Bearer correct horsecorrect horse'):
            status, headers, text = program.ask('POST', '/predict', '{"features":[1,2,3]}', {'Authorization': wrong} if wrong else {})
            assert (status, headers['WWW-Authenticate']) == (401, 'Bearer'), text
            assert json.loads(text)['code'] == 'E_UNAUTHORIZED', text
        assert program.ask('GET', '/metrics')[0] == 401
        assert program.ask('GET', '/health')[0] == 200
        status, answer = program.ask_json('POST', '/predict', '{"features":[1,2,3]}', {'Authorization': 'bearer correct horse'})
        assert status == 200 and answer['prediction'] == 13, answer


def test_exposed(folder):
    """Who opens the server to other machines is told what is missing."""
    with Server(make(folder), listen='0.0.0.0:0') as program:
        program.wait_for('level=warning .*no TLS')
        program.host = '127.0.0.1'
        assert program.predict([1, 2, 3]) == 13
    with Server(make(folder)) as program:
        assert program.predict([1, 2, 3]) == 13
        assert not any('TLS' in line for line in program.log), program.log


if sys.argv[1:2] == ['take-journal']:
    take_journal(sys.argv[2])
    sys.exit()
server.run([test_realizar, test_errors, test_query_and_encoding, test_keep_alive, test_unix_socket, test_closed_files,
            test_nobody_reads_the_log, test_nobody_empties_the_log, test_line_that_is_cut, test_socket_activation,
            test_socket_that_does_not_listen, test_notify, test_journal, test_units, test_threads, test_usage, test_names,
            test_interval, test_safetensors, test_metrics, test_page, test_token, test_exposed])

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What clients of bad will or bad luck send to `aprender serve`: each gets an error that says what is wrong, and nobody
else notices."""

import contextlib
import json
import os
import re
import resource
import socket
import threading
import time

import server
from server import Server, wait_until_read, write_model

GOOD = b'{"features": [1, 2, 3]}'


def make(folder):
    path = os.path.join(folder, 'plane.safetensors')
    write_model(path)
    return path


def request(headers, body=b'', method='POST', path='/predict'):
    lines = [f'{method} {path} HTTP/1.1', 'Host: a', 'Connection: close', *headers]
    return '\r\n'.join(lines).encode() + b'\r\n\r\n' + body


def parse(received):
    """The status and the error of an answer."""
    head, _, body = received.partition(b'\r\n\r\n')
    match = re.match(rb'HTTP/1.1 (\d+) ', head)
    assert match, received
    assert b'Content-Type: application/json' in head, received
    return int(match[1]), json.loads(body)['error']


def memory(program):
    """The most that the program has taken, in MiB."""
    with open(f'/proc/{program.process.pid}/status', encoding='utf-8') as file:
        return int(re.search(r'VmHWM:\s*(\d+) kB', file.read())[1]) / 1024


def test_lengths(folder):
    with Server(make(folder), '--max-body', '1000') as program:
        def answer(headers, body=b''):
            return parse(program.send(request(headers, body)))

        assert answer(['Content-Length: 1001'], b' ' * 1001) == (413, 'body: at most 1000 bytes are allowed, got 1001')
        assert answer(['Content-Length: 1001', 'Expect: 100-continue']) == (413, 'body: at most 1000 bytes are allowed, got 1001')
        assert answer([f'Content-Length: {2 ** 63 - 1}'])[0] == 413
        # Two programs that disagree on a request's end can be made to see different requests.
        assert answer(['Content-Length: 5', 'Content-Length: 6'], b'12345')[0] == 400
        assert answer(['Content-Length: 5', 'Transfer-Encoding: chunked'], b'0\r\n\r\n') == (
            400, 'Content-Length and Transfer-Encoding exclude each other')
        assert answer(['Transfer-Encoding: chunked'], b'64\r\n' + b' ' * 100 + b'\r\n' + b'384\r\n' + b' ' * 900 + b'\r\n0\r\n\r\n') == (
            400, 'body byte 1000: expected an object, but the text ends')
        assert answer(['Transfer-Encoding: chunked'], b'3e9\r\n' + b' ' * 1001 + b'\r\n0\r\n\r\n') == (
            413, 'body: at most 1000 bytes are allowed, got 1001')
        assert program.predict([1, 2, 3]) == 13


def test_request_ends(folder):
    """What could hide a header from this program or from a proxy in front of it ends the connection."""
    hidden = b'GET /models HTTP/1.1\r\nHost: a\r\n\r\n'
    length = len(hidden)
    with Server(make(folder)) as program:
        for headers in (f'Content-Length : {length}', f'Content-Length\t: {length}', f'Content-Length\x0b: {length}',
                        'Transfer-Encoding : chunked', f'Content-Length: 0\r\nContent-Length : {length}',
                        'Content-Length: 0\r\nTransfer-Encoding\x0b: chunked', f'Content-Length:\r\n {length}',
                        'Transfer-Encoding:\r\n\tchunked', f'X: y\r\n Content-Length: {length}',
                        f'Content: {length}\r\n -Length', f'X: a\rContent-Length: {length}', 'X: a\x01b', '(X): a',
                        'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'):
            data = f'POST /predict HTTP/1.1\r\nHost: a\r\n{headers}\r\n\r\n'.encode() + hidden
            with program.connect() as connection:
                connection.sendall(data)
                received = b''
                while part := connection.recv(65536):
                    received += part
            status, _ = parse(received)
            assert status == 400, (headers, received)
            assert received.count(b'HTTP/1.1') == 1 and b'models' not in received, (headers, received)
        old = b'POST /predict HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
        assert parse(program.send(old)) == (400, 'Transfer-Encoding: HTTP/1.0 has none')
        assert parse(program.send(request(['X y: z'], GOOD)))[1].startswith('header “X y”: expected a name that is a token')
        for headers in ('X:', 'X: a\tb c', "x!#$%&'*+-.^_`|~9:y", 'X:   y   '):
            assert b'"prediction":13' in program.send(request([headers, f'Content-Length: {len(GOOD)}'], GOOD)), headers


def test_targets(folder):
    """RFC 9112, 3.2: a target may be a whole address, as a proxy is sent it, and a request is to one host."""
    def lines(target, *hosts):
        return ''.join([f'GET {target} HTTP/1.1\r\n', *(f'Host: {host}\r\n' for host in hosts), 'Connection: close\r\n\r\n']).encode()

    token = os.path.join(folder, 'token')
    with open(token, 'w', encoding='utf-8') as file:
        file.write('secret')
    with Server(make(folder), '--token-file', token) as program:
        for target, status in (('/health', 200), ('http://x/health', 200), ('HTTP://x:80/health?a=/b', 200),
                               ('https://x/health', 200), ('http://x', 401), ('http://x?/health', 401), ('http://x/models', 401),
                               ('http:/health', 401), ('http:///health', 401), ('http://x%2fy/health', 401),
                               ('ftp://x/health', 401), ('/http://x/health', 401)):
            answer = program.send(lines(target, 'x'))
            assert answer.startswith(b'HTTP/1.1 %d ' % status), (target, answer)
        for hosts in (('x', 'x'), ('x', 'y')):
            assert parse(program.send(lines('/health', *hosts))) == (400, 'Host: expected one'), hosts
    with Server(make(folder)) as program:
        assert b'<h1>aprender</h1>' in program.send(lines('http://x', 'x'))
        assert parse(program.send(lines('http://x/', 'x', 'x')))[0] == 400
        infer = b'{"inputs":[{"name":"X","shape":[1,3],"datatype":"FP64","data":[1,2,3]}]}'
        answer = program.send(request([f'Content-Length: {len(infer)}'], infer, path='http://x/v2/models/pl%61ne/infer?interval='))
        assert parse(answer)[0] == 400 and b'interval: ' in answer, answer


def test_nothing_behind_a_nul(folder):
    with Server(make(folder)) as program:
        infer = b'{"inputs":[{"name":"X","shape":[1,3],"datatype":"FP64","data":[1,2,3]}]}'
        for path, body, status in (('/v2/models/plane%00x/infer', infer, 404), ('/v2/models/plane%00/infer', infer, 404),
                                   ('/predict%00', GOOD, 404), ('/predict?interval=0.9%00', GOOD, 400)):
            answer = program.send(request([f'Content-Length: {len(body)}'], body, path=path))
            assert parse(answer)[0] == status, (path, answer)
        # Of a file, the query names the model.
        file = ['Content-Type: application/octet-stream', 'Content-Length: 0']
        assert parse(program.send(request(file, path='/predict?model_id=plane%00x')))[0] == 404
        assert parse(program.send(request(file, path='/predict?model_id=pl%61ne')))[0] == 400
        answer = program.send(request([f'Content-Length: {len(GOOD)}'], GOOD, path='/%70redict'))
        assert b'"prediction":13' in answer, answer


def test_refused_bodies(folder):
    """Who sends a long body before reading the answer, as most clients do, gets to see why it is refused."""
    token = os.path.join(folder, 'token')
    with open(token, 'w', encoding='utf-8') as file:
        file.write('secret')
    max_body = 8 * 1024 * 1024
    with Server(make(folder), '--max-body', str(max_body), '--token-file', token, '--timeout', '300') as program:
        before = memory(program)
        good = {'Authorization': 'Bearer secret'}
        for size in max_body + 1, 2 * max_body:
            status, answer = program.ask_json('POST', '/predict', b' ' * size, good)
            assert (status, answer['error']) == (413, f'body: at most {max_body} bytes are allowed, got {size}'), answer
        assert program.ask_json('POST', '/predict', b' ' * max_body)[0] == 401
        assert memory(program) - before < 4 or server.SANITIZED, (before, memory(program))


def test_long_answers(folder):
    """Who asks for long answers and does not read them takes no more memory than all bodies may."""
    body = b'{"instances":[' + b','.join([b'[0,0,0]'] * 130000) + b']}'
    batch = request([f'Content-Length: {len(body)}'], body, path='/predict/batch')
    with Server(make(folder), '--max-body', str(1024 * 1024), '--timeout', '300') as program:
        before = memory(program)
        clients, statuses = [], []
        for _ in range(24):
            client = socket.socket()
            # So that the system does not take the answer for it.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(server.PATIENCE)
            client.connect((program.host, program.port))
            client.sendall(batch)
            received = b''
            while len(received) < 12:
                chunk = client.recv(12 - len(received))
                assert chunk, (received, statuses)
                received += chunk
            statuses.append(int(received[9:]))
            clients.append(client)
        assert statuses[0] == 200 and set(statuses) == {200, 503}, statuses
        assert memory(program) - before < 75 or server.SANITIZED, (before, memory(program))
        answer = parse(received + clients[-1].makefile('rb').read())
        assert answer[0] == 503 and re.fullmatch(r'answer: at least \d+ bytes, but .* ask for fewer rows, or try again', answer[1]), answer
        assert program.predict([1, 2, 3]) == 13
        for client in clients:
            client.close()
        while program.ask('POST', '/predict/batch', body)[0] != 200:
            pass


def test_busy(folder):
    """Who holds all the room that there is for bodies keeps no short request from being answered."""
    options = ['--max-body', '100000', '--timeout', '300']
    with Server(make(folder), *options, listen=f'unix:{folder}/socket') as program, contextlib.ExitStack() as stack:
        body = b' ' * 100000
        for _ in range(17):
            connection = stack.enter_context(program.connect())
            connection.sendall(request(['Content-Length: 100000'], body[1:]))
            wait_until_read(connection)
        while program.ask('POST', '/predict', body)[0] != 503:
            pass
        assert program.predict([1, 2, 3]) == 13


def test_short_bodies(folder):
    """A short body takes no more room than the longest short one, in whatever parts it comes."""
    options = ['--max-body', '131072', '--timeout', '300']
    with Server(make(folder), *options, listen=f'unix:{folder}/socket') as program, contextlib.ExitStack() as stack:
        connections = [stack.enter_context(program.connect()) for _ in range(20)]
        for connection in connections:
            connection.sendall(request(['Content-Length: 65536']))
        # The most where room doubles: 32 * 2025 is just too little.
        for size in 32 * [2025] + [735]:
            for connection in connections:
                wait_until_read(connection)
                connection.sendall(b' ' * size)
        for connection in connections:
            wait_until_read(connection)
        # Room for 16 of the longest is more than 20 short ones and one of the longest take.
        assert program.ask('POST', '/predict', b' ' * 131072)[0] == 400


def test_unread_pages(folder):
    """However many ask what a model is and do not read it: these answers are the same bytes, and leave room for others."""
    path = os.path.join(folder, 'long.safetensors')
    # Shown twice on the page, once for the coefficients and once in the form.
    write_model(path, names=['x' * 8000000, 'y', 'z'])
    with Server(path, '--max-body', '65536', '--timeout', '300') as program:
        before = memory(program)
        for route in '/', '/v2/models/long':
            clients = []
            for _ in range(16):
                client = socket.socket()
                # So that the system does not take the answer for it.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.settimeout(server.PATIENCE)
                client.connect((program.host, program.port))
                client.sendall(request([], method='GET', path=route))
                assert client.recv(12) == b'HTTP/1.1 200'
                clients.append(client)
            # A body needs room that all answers share with it.
            assert program.predict([1, 2, 3]) == 13
            whole = program.ask('GET', route)[2]
            assert whole.count(b'x' * 8000000) == (2 if route == '/' else 1), len(whole)
            received = clients[-1].makefile('rb').read()
            assert received.endswith(b'\r\n\r\n' + whole), (len(received), len(whole))
            for client in clients:
                client.close()
        assert memory(program) - before < 20 or server.SANITIZED, (before, memory(program))


def test_chunked_bomb(folder):
    """Whoever sends without end is cut off, and takes no memory."""
    with Server(make(folder)) as program:
        before = memory(program)
        with program.connect() as connection:
            connection.sendall(request(['Transfer-Encoding: chunked']))
            chunk = b'100000\r\n' + b' ' * 0x100000 + b'\r\n'
            sent = 0
            try:
                while sent < 1000:
                    connection.sendall(chunk)
                    sent += 1
            except (BrokenPipeError, ConnectionResetError):
                pass
        assert sent < 100, sent
        assert program.predict([1, 2, 3]) == 13
        assert memory(program) - before < 40 or server.SANITIZED, (before, memory(program))


def test_slow_clients(folder):
    """A byte now and then keeps no connection open, and a good request in between is answered."""
    with Server(make(folder), '--timeout', '1') as program:
        slow = []
        for beginning in (b'', b'POST /predict HTTP/1.1\r\n', request(['Content-Length: 100'])):
            connection = program.connect()
            connection.sendall(beginning)
            slow.append(connection)
        answers = [None] * len(slow)

        def drip(number, connection):
            received = b''
            connection.settimeout(0.2)
            for byte in b'x: ' + b'y' * 1000:
                try:
                    # One sends nothing at all.
                    if number > 0:
                        connection.send(bytes([byte]))
                    chunk = connection.recv(1000)
                except TimeoutError:
                    continue
                except (BrokenPipeError, ConnectionResetError):
                    break
                if not chunk:
                    break
                received += chunk
            else:
                received = None
            answers[number] = received

        threads = [threading.Thread(target=drip, args=pair) for pair in enumerate(slow)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert program.predict([1, 2, 3]) == 13
        for thread in threads:
            thread.join()
        for connection in slow:
            connection.close()
        for received in answers:
            assert parse(received) == (408, 'the request was not complete after 1 s'), answers


def test_many_connections(folder):
    """Thousands of idle connections leave room for one more."""
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    n = min(10000, limit - 200)
    with Server(make(folder)) as program:
        idle = []
        try:
            for i in range(n):
                idle.append(program.connect())
                if i % 2:
                    idle[-1].sendall(b'POST /predict HTTP/1.1\r\nContent-Length: 100000\r\n\r\n{')
            for _ in range(10):
                assert program.predict([1, 2, 3]) == 13
            print(f'# {n} connections, {memory(program):.0f} MiB')
            assert memory(program) < 400 or server.SANITIZED, memory(program)
        finally:
            for connection in idle:
                connection.close()
        assert program.predict([1, 2, 3]) == 13


def test_bodies(folder):
    cases = {
        b'': 'body byte 0: expected an object, but the text ends',
        b'[' * 1000000: 'body byte 0: expected an object, found “[”',
        b'{"features":' + b'[' * 1000000: 'features[0][0]: expected a number, found an array at byte 14',
        b'{"x":' * 1000000: 'nested deeper than the 127 levels',
        b'{"features":[' + b'1,' * 100000: 'body byte 200013: expected a value, but the text ends',
        b'{"features":[1,2,NaN]}': 'features[2]: expected a number, found “NaN” at byte 17',
        b'{"features":[1,2,1e999]}': 'features[2]: a number beyond a double',
        b'{"features":[1,2,' + b'9' * 100000 + b']}': 'features[2]: a number beyond a double',
        b'{"features":[1,2,"\xff"]}': 'body byte 18: not UTF-8',
        b'\x00' * 100: 'body byte 0: expected an object',
        b'\x1f\x8b\x08': 'not UTF-8',
    }
    # A machine may be busy, and the longest take a while to read.
    with Server(make(folder), '--timeout', '300') as program:
        for body, message in cases.items():
            status, answer = program.ask_json('POST', '/predict', body)
            assert status == 400 and message in answer['error'] and len(answer['error']) < 1000, (body[:50], answer)
        # As long as it may be.
        assert program.ask_json('POST', '/predict', GOOD[:-1] + b' ' * (16 * 1024 * 1024 - len(GOOD)) + b'}')[0] == 200


def test_long_bodies(folder):
    """Long requests keep nobody from being answered, however many there are."""
    body = b'{"features": [' + b','.join([b'[1.25, 2.125, 3.0625]'] * 600000) + b']}'
    with Server(make(folder), '--threads', '2', '--timeout', '300') as program:
        statuses = []
        threads = [threading.Thread(target=lambda: statuses.append(program.ask('POST', '/predict', body)[0])) for _ in range(8)]
        for thread in threads:
            thread.start()
        n_meanwhile = 0
        while any(thread.is_alive() for thread in threads):
            assert program.predict([1, 2, 3]) == 13
            n_meanwhile += 1
        for thread in threads:
            thread.join()
        assert statuses == [200] * 8, statuses
        print(f'# {n_meanwhile} short requests beside {len(statuses)} long ones')


def test_broken_http(folder):
    """What is not HTTP is answered by libmicrohttpd, and hurts nobody."""
    with Server(make(folder)) as program:
        for data in (b'\r\n' * 1000 + b'\x00' * 1000, b'GET / HTTP/1.1\r\n' + b'a: b\r\n' * 10000 + b'\r\n',
                     b'GET /' + b'x' * 100000 + b' HTTP/1.1\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'\xff' * 10,
                     request(['Transfer-Encoding: chunked'], b'zz\r\n\r\n'), request(['Content-Length: -1']),
                     request(['Content-Length: 1x'], b'1')):
            with program.connect() as connection:
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    received = connection.recv(100)
                    assert not received or received.startswith(b'HTTP/1.1 4') or received.startswith(b'HTTP/1.1 5'), (data[:50], received)
                except OSError:
                    # It has closed the connection already.
                    pass
            assert program.predict([1, 2, 3]) == 13


def test_pipelined(folder):
    """Requests that come at once are answered in order."""
    with Server(make(folder)) as program:
        one = b'POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 23\r\n\r\n'
        last = request(['Content-Length: 22'], b'{"features":[0, 0, 0]}')
        received = program.send((one + GOOD) * 100 + last)
        assert re.findall(rb'"prediction":([0-9.]+)', received) == [b'13'] * 100 + [b'0.5'], received


def test_stop(folder):
    """A request that is under way is answered before the program ends."""
    with Server(make(folder)) as program:
        with program.connect() as connection:
            connection.sendall(request([f'Content-Length: {len(GOOD)}'], GOOD[:10]))
            # It is under way when another connection, opened later, has been answered twice by each thread or so.
            for _ in range(20):
                program.predict([1, 2, 3])
            program.process.terminate()
            program.wait_for('message=stopping')
            connection.sendall(GOOD[10:])
            assert b'"prediction":13,' in connection.makefile('rb').read()
        assert program.process.wait(timeout=30) == 0


def test_stop_among_refusals(folder):
    """Requests that lack a host, which libmicrohttpd itself refuses, arrive before, while and after the server stops."""
    for n_before in range(0, 500, 50):
        with Server(make(folder)) as program:
            connections = []

            def send():
                for _ in range(500):
                    with contextlib.suppress(ConnectionError):
                        connections.append(program.connect())
                        connections[-1].sendall(b'GET / HTTP/1.1\r\n\r\n')

            sending = threading.Thread(target=send)
            sending.start()
            while len(connections) < n_before:
                time.sleep(0.0001)
            program.process.terminate()
            status = program.process.wait(timeout=server.PATIENCE)
            sending.join()
            for connection in connections:
                connection.close()
            assert status == 0, (status, program.log)


server.run([test_lengths, test_request_ends, test_targets, test_nothing_behind_a_nul, test_refused_bodies,
            test_long_answers, test_busy, test_short_bodies, test_unread_pages, test_chunked_bomb, test_slow_clients,
            test_many_connections, test_bodies, test_long_bodies, test_broken_http, test_pipelined, test_stop, test_stop_among_refusals])

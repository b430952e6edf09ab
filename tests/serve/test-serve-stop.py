#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What becomes of requests and connections when `aprender serve` is told to stop: all that the kernel had received by
then is answered. The program is held while the tests send, so that it sees all of it and the signal at once."""

import contextlib
import os
import signal
import subprocess
import time

import server
from server import Server, wait_until_read, write_model

BODY = b'{"features":[1,2,3]}'
REQUEST = b'POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s' % (len(BODY), BODY)
# Which requests were lost was a matter of luck.
N_TIMES = 2 if server.SANITIZED else 5
N_CONNECTIONS = 50


def make(folder):
    path = os.path.join(folder, 'plane.safetensors')
    write_model(path)
    return path


def for_each_listener(test):
    def run(folder):
        for listen in ('127.0.0.1:0', f'unix:{folder}/socket'):
            test(folder, listen)
    run.__name__ = test.__name__
    return run


@contextlib.contextmanager
def held(program):
    """What is sent meanwhile has come when the program is told to stop, but it has read none of it."""
    program.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, program.process.pid, os.WSTOPPED | os.WNOWAIT)
    yield
    program.process.send_signal(signal.SIGTERM)
    program.process.send_signal(signal.SIGCONT)


def read_all(connection):
    received = b''
    while chunk := connection.recv(65536):
        received += chunk
    return received


def assert_answered(connection, last=False):
    """And closed. The answer says that it is the last one, if it was made when the program knew that."""
    answer = read_all(connection)
    assert answer.startswith(b'HTTP/1.1 200 ') and answer.count(b'HTTP/1.1') == 1, answer
    assert b'"prediction":13,' in answer and (not last or b'\r\nConnection: close\r\n' in answer), answer


def ask(connection):
    """A request after which the connection stays."""
    connection.sendall(REQUEST)
    answer = b''
    while not answer.endswith(b'}\n'):
        chunk = connection.recv(65536)
        assert chunk, answer
        answer += chunk
    assert b'"prediction":13,' in answer and b'Connection: close' not in answer, answer


def assert_ends(program):
    assert program.process.wait(timeout=server.PATIENCE) == 0


@for_each_listener
def test_kept_connections(folder, listen):
    for _ in range(N_TIMES):
        with Server(make(folder), listen=listen) as program, contextlib.ExitStack() as stack:
            connections = [stack.enter_context(program.connect()) for _ in range(N_CONNECTIONS)]
            for connection in connections:
                ask(connection)
            with held(program):
                for connection in connections:
                    connection.sendall(REQUEST)
            for connection in connections:
                assert_answered(connection)
            assert_ends(program)


@for_each_listener
def test_new_connections(folder, listen):
    """They were not accepted yet, though their clients believe so."""
    for _ in range(N_TIMES):
        with Server(make(folder), listen=listen) as program, contextlib.ExitStack() as stack:
            with held(program):
                connections = [stack.enter_context(program.connect()) for _ in range(N_CONNECTIONS)]
                for connection in connections:
                    connection.sendall(REQUEST)
            for connection in connections:
                assert_answered(connection)
            assert_ends(program)


@for_each_listener
def test_parts(folder, listen):
    """Of a request whose first line is there, the rest may come later. Meanwhile connections without a request are
    closed, old and new."""
    for end in N_TIMES * (REQUEST.index(b'\r\n') + 7, REQUEST.index(b'{') + 2):
        with Server(make(folder), listen=listen) as program, program.connect() as kept, program.connect() as idle:
            ask(kept)
            ask(idle)
            with held(program):
                new = program.connect()
                other = program.connect()
                for connection in (kept, new):
                    connection.sendall(REQUEST[:end])
            with new, other:
                assert read_all(idle) == b''
                assert read_all(other) == b''
                for connection in (kept, new):
                    connection.sendall(REQUEST[end:])
                for connection in (kept, new):
                    assert_answered(connection, last=True)
            assert_ends(program)


def test_parts_that_were_read(folder):
    """The program has read the beginning of a request, and whether it has looked at it yet is a matter of luck."""
    for _ in range(10 * N_TIMES):
        with Server(make(folder), listen=f'unix:{folder}/socket') as program, program.connect() as kept, \
                program.connect() as idle:
            ask(kept)
            ask(idle)
            kept.sendall(REQUEST[:-1])
            wait_until_read(kept)
            program.process.send_signal(signal.SIGTERM)
            assert read_all(idle) == b''
            kept.sendall(REQUEST[-1:])
            assert_answered(kept, last=True)
            assert_ends(program)


@for_each_listener
def test_time_is_over(folder, listen):
    """Who never sends the rest does not keep the program."""
    with Server(make(folder), '--timeout', '1', listen=listen) as program, program.connect() as kept:
        with held(program):
            kept.sendall(REQUEST[:-1])
        assert_ends(program)


@for_each_listener
def test_next_server(folder, listen):
    """While requests are waited for, new clients are refused rather than left without an answer, and another server can
    listen at the same place, which the first one leaves to it."""
    with Server(make(folder), '--timeout', '300', listen=listen) as program, program.connect() as waiting:
        ask(waiting)
        waiting.sendall(REQUEST[:-1])
        program.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + server.PATIENCE
        with contextlib.suppress(ConnectionRefusedError, ConnectionResetError, FileNotFoundError):
            while time.monotonic() < deadline:
                program.connect().close()
                time.sleep(0.001)
            raise AssertionError('new clients are accepted')
        with Server(make(folder), listen=listen if program.path else f'127.0.0.1:{program.port}') as other:
            waiting.sendall(REQUEST[-1:])
            assert_answered(waiting, last=True)
            assert_ends(program)
            assert other.predict([1, 2, 3]) == 13


def test_replaced_socket(folder):
    """A socket that another server has made in the same place is not the first one's to remove."""
    path = os.path.join(folder, 'socket')
    with Server(make(folder), listen=f'unix:{path}') as program:
        os.remove(path)
        with Server(make(folder), listen=f'unix:{path}') as other:
            assert program.stop() == 0
            assert other.predict([1, 2, 3]) == 13
    assert not os.path.exists(path)


@for_each_listener
def test_second_signal(folder, listen):
    """Whoever does not want to wait for the requests that have come says so again."""
    for numbers in (signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT):
        with Server(make(folder), listen=listen) as program, program.connect() as connection:
            ask(connection)
            connection.sendall(REQUEST[:-1])
            program.process.send_signal(numbers[0])
            program.wait_for('message=stopping')
            program.process.send_signal(numbers[1])
            assert program.process.wait(timeout=server.PATIENCE) == -numbers[1]


@contextlib.contextmanager
def reading_token(folder):
    """A program that reads its token from a pipe, into which nobody writes yet, and the writing end."""
    token = os.path.join(folder, 'token')
    os.mkfifo(token)
    process = subprocess.Popen([server.TOOL, 'serve', make(folder), '--listen', '127.0.0.1:0', '--token-file', token],
                               stderr=subprocess.PIPE)
    writer = None
    while writer is None:
        assert process.poll() is None
        # Only where somebody reads.
        with contextlib.suppress(OSError):
            writer = os.open(token, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.001)
    try:
        yield process, writer
    finally:
        process.kill()
        process.stderr.close()
        os.unlink(token)


def test_before_it_serves(folder):
    """Nothing is to be answered yet while the token is read."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with reading_token(folder) as (process, writer):
            process.send_signal(number)
            assert process.wait(timeout=server.PATIENCE) == -number
            os.close(writer)


def test_reload_before_it_serves(folder):
    """Who asks for new models while the first ones are read does not end the program."""
    with reading_token(folder) as (process, writer):
        process.send_signal(signal.SIGHUP)
        os.write(writer, b'secret')
        os.close(writer)
        while b'message=listening' not in (line := process.stderr.readline()):
            assert line, process.wait(timeout=server.PATIENCE)
        process.terminate()
        assert process.wait(timeout=server.PATIENCE) == 0


server.run([test_kept_connections, test_new_connections, test_parts, test_parts_that_were_read, test_time_is_over,
            test_next_server, test_replaced_socket, test_second_signal, test_before_it_serves,
            test_reload_before_it_serves])

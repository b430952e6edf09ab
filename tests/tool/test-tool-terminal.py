#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `aprender` shows on a terminal, and does not write into a pipe: progress and colours."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

TOOL = os.environ['APR_TOOL']
TABLE = b'x,y\n' + b'1,2\n2,5\n3,4\n4,9\n5,8\n6,13\n'
ROWS = b'1.25,2.5\n2.5,5.25\n' * 4096


def environment(**changes):
    variables = {name: value for name, value in os.environ.items() if name not in ('NO_COLOR', 'TERM')}
    return variables | {'TERM': 'xterm'} | changes


class Terminal:
    """The side of a terminal that a person sits at."""

    def __init__(self, columns=0):
        self.fd, self.program_fd = pty.openpty()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 0, columns, 0, 0))
        self.text = b''

    def read(self, seconds=0):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                text = os.read(self.fd, 65536)
            except OSError:
                return
            if not text:
                return
            self.text += text

    def close(self):
        os.close(self.program_fd)
        self.read()
        os.close(self.fd)


def test_progress(folder):
    """Both are given rows until the one that has a terminal shows how far it is; then the other has had the time too."""
    terminal = Terminal()
    shown = subprocess.Popen([TOOL, 'fit', '-', '-t', 'y', '-o', folder / 'a'], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=terminal.program_fd)
    piped = subprocess.Popen([TOOL, 'fit', '-', '-t', 'y', '-o', folder / 'b'], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for process in (shown, piped):
        process.stdin.write(TABLE)
    for _ in range(20000):
        for process in (shown, piped):
            process.stdin.write(ROWS)
            process.stdin.flush()
        terminal.read()
        if b'rows' in terminal.text:
            break
        time.sleep(0.005)
    output, _ = shown.communicate()
    piped_output, messages = piped.communicate()
    terminal.close()
    assert re.search(rb'\r\x1b\[K[0-9.]+.*[kM]B, [0-9]+ rows, [0-9.]+.*B/s', terminal.text), terminal.text
    assert terminal.text.endswith(b'\r\x1b[K'), terminal.text
    assert messages == b'' and output == piped_output and output.startswith(b'samples'), (messages, output)


def test_interrupt(folder):
    """Who is interrupted leaves neither a temporary file nor a line behind; that line is no wider than the terminal."""
    model = folder / 'm.safetensors'
    subprocess.run([TOOL, 'fit', '-', '-t', 'y', '-o', model], input=TABLE, check=True, stdout=subprocess.DEVNULL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Programs inherit what is ignored, as SIGHUP is where nohup has started the tests.
        signal.signal(number, signal.SIG_DFL)
        terminal = Terminal(20)
        process = subprocess.Popen([TOOL, 'predict', model, '-', '-o', folder / 'p.csv'], stdin=subprocess.PIPE,
                                   stderr=terminal.program_fd, start_new_session=True)
        process.stdin.write(TABLE)
        for _ in range(20000):
            process.stdin.write(ROWS)
            process.stdin.flush()
            terminal.read()
            # The first once a line is shown, the others as soon as there is a file.
            if b'\x1b[K' in terminal.text or (number != signal.SIGINT and len(os.listdir(folder)) > 1):
                break
            time.sleep(0.005)
        assert len(os.listdir(folder)) == 2, os.listdir(folder)
        process.send_signal(number)
        assert process.wait(60) == -number, process.returncode
        process.stdin.close()
        terminal.close()
        assert os.listdir(folder) == [model.name], os.listdir(folder)
        lines = terminal.text.split(b'\r\x1b[K')
        assert lines[-1] == b'' and all(len(line.decode()) < 20 for line in lines), lines
        assert number != signal.SIGINT or len(lines) > 2, lines


def test_interrupt_in_library(folder):
    """Nor a file of the library's: the half gigabyte of zeros takes no room before it is written."""
    source = folder / 'zeros.safetensors'
    header = b'{"z":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}' % (1 << 29, 1 << 29)
    with open(source, 'wb') as file:
        file.write(struct.pack('<Q', len(header)) + header)
        file.truncate(8 + len(header) + (1 << 29))
    process = subprocess.Popen([TOOL, 'convert', source, folder / 'copy.safetensors'], start_new_session=True)
    while len(os.listdir(folder)) == 1:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT, process.returncode
    assert os.listdir(folder) == [source.name], os.listdir(folder)


def test_endless_cell(folder):
    path = folder / 'large.csv'
    with open(path, 'wb') as file:
        file.write(TABLE)
        file.truncate(1 << 40)
    terminal = Terminal()
    process = subprocess.Popen([TOOL, 'fit', path, '-t', 'y', '-o', folder / 'a'], stdout=subprocess.PIPE,
                               stderr=terminal.program_fd)
    process.communicate()
    terminal.close()
    # The rest of the file are zeros: a cell without an end.
    assert process.returncode == 1 and b'is longer than the 1048576 bytes that are allowed' in terminal.text, terminal.text


def test_colours(folder):
    model = folder / 'm.safetensors'
    subprocess.run([TOOL, 'fit', '-', '-t', 'y', '--keep-state', '-o', model], input=TABLE, check=True,
                   stdout=subprocess.DEVNULL)
    plain = subprocess.run([TOOL, 'summary', model], check=True, stdout=subprocess.PIPE, env=environment()).stdout
    assert b'\x1b' not in plain and b'***' in plain
    for variables, coloured in [({}, True), ({'NO_COLOR': '1'}, False), ({'TERM': 'dumb'}, False)]:
        terminal = Terminal()
        subprocess.run([TOOL, 'summary', model], check=True, stdout=terminal.program_fd, env=environment(**variables))
        terminal.read(0.1)
        terminal.close()
        text = terminal.text.replace(b'\r\n', b'\n')
        assert (b'\x1b[32m' in text) == coloured, text
        assert re.sub(rb'\x1b\[[0-9]*m', b'', text) == plain, text


harness.run([test_progress, test_interrupt, test_interrupt_in_library, test_endless_cell,
             test_colours], with_folder=True)

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that a page tells the truth: its programs are the files of this folder, its commands print what it shows, and
the programs of all languages write the file that it describes.

Usage: test-page.py PAGE.md NAME=PROGRAM...

A command of the page runs the program of that name, such as cc, that is given here as in a shell; where none is given,
its test is skipped. A command that ends with “&” goes on until the others have run; the port 8080 is any that is free.
"""

import os
import pathlib
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

SUFFIXES = ('c', 'js', 'py', 'vala')
FLOATS = struct.Struct('<3f')
# For each page the programs that it shows, the file that they all write, if any, and the bytes of the tensors in it.
# BF16 is the upper half of F32.
PAGES = {
    'README.md': (['first.c', 'first.js', 'first.py', 'first.vala'],
                  'first.safetensors', FLOATS.pack(1, 2, 0)),
    'safetensors.md': (['checkpoint.c', 'checkpoint.js', 'checkpoint.py', 'checkpoint.vala'], 'tiny.safetensors',
                       FLOATS.pack(0.5, 1, 1.5) + b''.join(struct.pack('<f', i)[2:] for i in range(1, 13))),
    'estimators.md': (['estimator.c', 'estimator.js', 'estimator.vala'], 'mean.safetensors', struct.pack('<d', 3)),
    'linear-regression.md': ([f'{name}.{suffix}' for name in ('rents', 'groups', 'cross-products') for suffix in SUFFIXES],
                             None, None),
    'statistics.md': (['clusters.py', *(f'{name}.{suffix}' for name in ('hypotheses', 'weights') for suffix in SUFFIXES)],
                      None, None),
    'cross-validation.md': ([f'cross-validation.{suffix}' for suffix in SUFFIXES], None, None),
    'data.md': ([f'tables.{suffix}' for suffix in SUFFIXES], None, None),
    'errors.md': ([f'errors.{suffix}' for suffix in SUFFIXES], None, None),
    'asynchronous.md': ([f'asynchronous.{suffix}' for suffix in SUFFIXES], None, None),
    'c.md': (['threads.c'], None, None),
    'javascript.md': (['arrays.js', 'penalties.js'], None, None),
    'vala.md': (['model-of-table.vala'], None, None),
    'command.md': ([], None, None),
    'gnome.md': (['rents-window.js', 'rents-window.py', 'summary-window.c', 'summary-window.vala'], None, None),
    'moving-models.md': (['scikit-learn.py', 'rent.js', 'pytorch.py', 'from-pytorch.py', 'to-realizar.py',
                          '../../tests/interop/peers/rust/src/predict.rs'], None, None),
    'accuracy.md': (['accuracy.py', 'accuracy-engines.py'], None, None),
    'scale.md': (['scale-data.py', 'scale-dask.py', 'scale-spark.py', 'scale-mpi.py', 'scale-ray.py'], None, None),
    'serving.md': (['serving.py', 'serving-kserve.py'], None, None),
    'python.md': (['analysis.py', 'batches.py', 'estimator.py', 'folds.py', 'formulas.py'], None, None),
}

page = pathlib.Path(sys.argv[1])
files, saved_name, saved_data = PAGES[page.name]
programs = dict(argument.split('=', 1) for argument in sys.argv[2:])
examples = pathlib.Path(__file__).resolve().parent
blocks = re.findall(r'^```(\w+)\n(.*?)^```$', page.read_text(encoding='utf-8'), flags=re.MULTILINE | re.DOTALL)
saved = {}
number = 0


def report(problem, name):
    global number
    number += 1
    if problem is None or problem.startswith('# SKIP'):
        print(f'ok {number} {name} {problem or ""}'.rstrip())
    else:
        print(f'not ok {number} {name}')
        print('\n'.join('# ' + line for line in problem.splitlines()))
    sys.stdout.flush()


def read_example(name):
    """The file without the comment about its licence, which a page does not repeat."""
    first, _, rest = (examples / name).read_text(encoding='utf-8').partition('\n')
    assert 'SPDX-License-Identifier' in first, name
    return rest


def check_programs():
    shown = sorted(text for language, text in blocks if language in ('c', 'js', 'python', 'rust', 'vala'))
    different = [name for name in files if read_example(name) not in shown]
    if different or len(shown) != len(files):
        return f'{page.name} shows {len(shown)} programs for {len(files)} files; other than it shows are: {different}'
    return None


def strip_times(text):
    return re.sub(r'("latency_ms":)[0-9.]+', r'\1', text)


def split_console(text):
    """Pairs of a command and what it prints."""
    parts = re.split(r'^\$ (.*)\n', text, flags=re.MULTILINE)
    assert parts[0] == '', text
    return list(zip(parts[1::2], parts[2::2]))


def start_server(command, work, environment, port):
    """Starts a command that ends with “&”, and waits until it listens."""
    process = subprocess.Popen(['sh', '-c', 'exec ' + command.removesuffix('&')], cwd=work, env=environment)
    while process.poll() is None:
        try:
            socket.create_connection(('127.0.0.1', port)).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    return process


def run_console(text, folder):
    tools = folder / 'tools'
    tools.mkdir()
    for name, program in programs.items():
        # By their paths, since this folder comes first: a compiler may be the argument of a compiler cache.
        program = shlex.join(shutil.which(word) or word for word in shlex.split(program))
        (tools / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n', encoding='utf-8')
        (tools / name).chmod(0o755)
    work = folder / 'work'
    for source, copy in ((examples, work), (examples / '../../tests/data/nist', work / 'nist')):
        # The sources may be read-only, but the copy is not.
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        copy.chmod(0o755)

    environment = dict(os.environ, PATH=f'{tools}:{os.environ["PATH"]}')
    # Where a compiler cache looks for the compiler: in the folder that comes first, it would find its own caller.
    environment.setdefault('CCACHE_PATH', os.environ['PATH'])
    servers = []
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    try:
        problem = run_commands(split_console(text.replace(':8080', f':{port}')), work, environment, port, servers)
    finally:
        for process in servers:
            process.terminate()
            process.wait()
    if problem is None and saved_name and (work / saved_name).exists():
        saved[text] = (work / saved_name).read_bytes()
    return problem


def run_pkg_config(command, environment):
    return subprocess.run(shlex.split(command), stdout=subprocess.PIPE, encoding='utf-8', env=environment,
                          check=False).stdout.strip()


def run_commands(commands, work, environment, port, servers):
    for command, expected in commands:
        command = command.replace('/usr/bin/python3', 'python3').replace('env/bin/python3', 'python3')
        # Whoever compiles a program of the site with more warnings is to see none.
        command = re.sub('^cc ', 'cc -Wall -Wextra -Wpedantic -Wconversion -Werror ', command)
        # What pkg-config says is quoted for a shell, which reads it so where it is a part of the command.
        command = re.sub(r'\$\((pkg-config .*?)\)', lambda call: run_pkg_config(call[1], environment), command)
        if shlex.split(command)[0] not in programs:
            return f'# SKIP there is no {shlex.split(command)[0]}'
        if command.endswith('&'):
            servers.append(start_server(command, work, environment, port))
            continue
        # What a compiler has to say is not for a page, but what the command says is.
        errors = subprocess.STDOUT if command.startswith('aprender ') else subprocess.PIPE
        result = subprocess.run(['sh', '-c', command], cwd=work, stdout=subprocess.PIPE, stderr=errors, encoding='utf-8',
                                env=environment, check=False)
        if result.returncode != 0 or strip_times(result.stdout) != strip_times(expected):
            return f'{command}\nprints:\n{result.stdout}{result.stderr or ""}but {page.name} shows:\n{expected}'

    return None


def check_files():
    """Equal bytes from all languages, and the header that the page shows."""
    if not saved:
        return '# SKIP no program ran'
    if len(set(saved.values())) != 1:
        return 'the programs write different files'
    data = next(iter(saved.values()))
    length, = struct.unpack('<Q', data[:8])
    header = data[8:8 + length].decode()
    shown = ''.join(line.strip() for language, text in blocks if language == 'json' for line in text.splitlines())
    if header.rstrip(' ') != shown or length % 8 != 0:
        return f'the header is:\n{header}\nbut {page.name} shows:\n{shown}'
    if data[8 + length:] != saved_data:
        return f'the numbers are {data[8 + length:].hex()}'
    return None


consoles = [text for language, text in blocks if language == 'console']
print(f'1..{len(consoles) + (2 if saved_name else 1)}')
report(check_programs(), 'programs')
for console in consoles:
    command = split_console(console)[0][0]
    with tempfile.TemporaryDirectory() as path:
        report(run_console(console, pathlib.Path(path)), command.replace('#', ''))
if saved_name:
    report(check_files(), 'files')

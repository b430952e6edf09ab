#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`aprender serve` while its models' files are replaced."""

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import threading
import time

import server
from server import Server, write_model


def make(folder, name='plane', **options):
    path = os.path.join(folder, f'{name}.safetensors')
    write_model(path, **options)
    return path


def wait_for_prediction(program, value, seconds=120):
    deadline = time.monotonic() + seconds
    while program.predict([1, 2, 3]) != value:
        assert time.monotonic() < deadline, f'{value} is not predicted'
        time.sleep(0.001)


def test_replaced(folder):
    path = make(folder)
    with Server(path) as program:
        assert program.predict([1, 2, 3]) == 13
        write_model(path, intercept=1)
        wait_for_prediction(program, 13.5)
        # In place, which takes a moment, and by a link.
        with open(path, 'wb') as file:
            data = server.model_bytes(intercept=2)
            file.write(data[:20])
            file.flush()
            file.write(data[20:])
        wait_for_prediction(program, 14.5)
        status, answer = program.ask_json('GET', '/models')
        assert status == 200 and answer['models'][0]['version'] == '3', answer


def test_links(folder):
    """A link that is made in the place of a file is a new file at once, and a file that is moved away is none."""
    path = make(folder)
    with Server(path) as program:
        for n, link in enumerate((os.link, os.symlink), 1):
            os.rename(path, os.path.join(folder, f'away-{n}'))
            link(make(folder, f'other-{n}', intercept=n), path)
            program.wait_for(rf'message=reloaded model=plane version={n + 1}$')
            assert program.predict([1, 2, 3]) == 12.5 + n
        assert not any('old model stays' in line for line in program.log), program.log


def test_other_features(folder):
    """Who lists numbers is told nothing when they come to mean something else, so the operator is."""
    def fit(table):
        path = os.path.join(folder, 'flats.safetensors')
        subprocess.run([server.TOOL, 'fit', '-', '--target', 'y', '-o', path], input=table, encoding='utf-8',
                       stdout=subprocess.DEVNULL, check=True, timeout=30)
        return path

    path = fit('area,rooms,y\n1,2,8\n2,1,7\n3,5,21\n4,4,20\n')
    with Server(path) as program:
        program.wait_for(f'message=loaded model=flats path={path} form="1 target, 2 features: area, rooms"')
        fit('area,rooms,y\n1,2,9\n2,1,8\n3,5,22\n4,4,21\n')
        program.wait_for('message=reloaded model=flats version=2$')
        fit('rooms,area,y\n2,1,9\n1,2,8\n5,3,22\n4,4,21\n')
        program.wait_for('level=warning .*other features or targets.* model=flats before=".*: area, rooms" now=".*: rooms, area"')
        assert sum('other features' in line for line in program.log) == 1, program.log


def test_broken(folder):
    path = make(folder)
    with Server(path) as program:
        with open(f'{path}.tmp', 'wb') as file:
            file.write(b'nonsense')
        os.rename(f'{path}.tmp', path)
        program.wait_for(r'level=warning .*the old model stays.* model=plane version=1 error=".*plane')
        assert program.predict([1, 2, 3]) == 13
        _, _, metrics = program.ask('GET', '/metrics')
        assert b'aprender_model_load_failures_total{model="plane"} 1\n' in metrics, metrics
        assert b'aprender_model_generation{model="plane"} 1\n' in metrics, metrics
        os.remove(path)
        program.wait_for(f'level=warning message="the file is gone, the model stays" path={path}')
        assert program.predict([1, 2, 3]) == 13
        write_model(path, intercept=1)
        wait_for_prediction(program, 13.5)


def test_no_file(folder):
    """What is no regular file is not waited for: nobody may ever write into a pipe."""
    path = make(folder)
    os.mkfifo(f'{path}.fifo')
    refused = subprocess.run([server.TOOL, 'serve', f'{path}.fifo', '--listen', '127.0.0.1:0'], stderr=subprocess.PIPE,
                             encoding='utf-8', check=False, timeout=server.PATIENCE)
    assert (refused.returncode, refused.stderr) == (1, f'aprender: {path}.fifo: Not a regular file\n'), refused
    with Server(path) as program:
        os.rename(f'{path}.fifo', path)
        program.wait_for('level=warning .*the old model stays.* error=".*: Not a regular file"')
        assert program.predict([1, 2, 3]) == 13
        write_model(path, intercept=1)
        wait_for_prediction(program, 13.5)
        assert program.stop() == 0


def test_signal(folder):
    """A file behind a link that leads elsewhere, as in a container, is loaded again when somebody says so."""
    make(folder, 'one')
    make(folder, 'two', intercept=1)
    path = os.path.join(folder, 'link')
    os.symlink('one.safetensors', path)
    with Server(f'plane={path}') as program:
        assert program.predict([1, 2, 3]) == 13
        os.symlink('two.safetensors', f'{path}.tmp')
        os.rename(f'{path}.tmp', path)
        program.process.send_signal(signal.SIGHUP)
        wait_for_prediction(program, 13.5)


def test_under_load(folder):
    """No request fails, none sees half of a model, and a connection never goes back to an older one."""
    n_reloads = 50
    path = make(folder, coefficients=(1, 1, 1), intercept=1)
    problems = []
    counts = []
    done = threading.Event()

    def ask():
        newest = 0
        count = 0
        connection = program.open()
        while not done.is_set():
            connection.request('POST', '/predict', '{"features": [[1, 1, 1], [2, 2, 2]]}')
            response = connection.getresponse()
            answer = response.read().decode()
            # The nth model has n for all coefficients and the intercept.
            n = round(float(answer.split('[')[1].split(',')[0]) / 4) if response.status == 200 else 0
            if f'"prediction":[{4 * n},{7 * n}],' not in answer or n < newest:
                problems.append((newest, answer))
                return
            newest = n
            count += 1
        counts.append(count)

    with Server(path) as program:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for n in range(2, n_reloads + 2):
            write_model(path, coefficients=(n, n, n), intercept=n)
            program.wait_for(rf'message=reloaded model=plane version={n}$')
        done.set()
        for thread in threads:
            thread.join()
    assert not problems, problems
    assert len(counts) == 4 and min(counts) > 0, counts
    print(f'# {sum(counts)} requests during {n_reloads} reloads')


def test_folder_is_replaced(folder):
    """Of another folder in the same place the server knows nothing until it is told."""
    inner = os.path.join(folder, 'inner')
    os.mkdir(inner)
    path = make(inner)
    with Server(path) as program:
        for n, take_away in enumerate((shutil.rmtree, lambda inner: os.rename(inner, f'{inner}.old')), 1):
            take_away(inner)
            program.wait_for(f'level=warning message="the folder is gone.*SIGHUP" path={path}', n)
            os.mkdir(inner)
            write_model(path, intercept=n)
            program.process.send_signal(signal.SIGHUP)
            wait_for_prediction(program, 12.5 + n)
            write_model(path, intercept=10 * n)
            wait_for_prediction(program, 12.5 + 10 * n)
        # What becomes of the old folder is nothing to the server.
        write_model(os.path.join(f'{inner}.old', 'plane.safetensors'), intercept=0)
        write_model(path, intercept=3)
        wait_for_prediction(program, 15.5)
        assert program.ask_json('GET', '/models')[1]['models'][0]['version'] == '6'


def test_written_in_place(folder):
    """A file whose mode is set while it is written is not loaded before it is closed."""
    path = make(folder)
    marker = make(folder, 'marker')
    with Server(path, marker) as program:
        for n, size in enumerate((0, len(server.model_bytes()) - 16), 2):
            data = server.model_bytes(intercept=n)
            with open(path, 'wb') as file:
                # As a program that reserves the room first.
                file.truncate(len(data))
                file.write(data[:size])
                file.flush()
                os.fchmod(file.fileno(), 0o600 + n)
                # One thread loads what has changed in turn.
                write_model(marker)
                program.wait_for(rf'message=reloaded model=marker version={n}$')
                assert sum('model=plane' in line for line in program.log) == n - 1, program.log
                file.write(data[size:])
            program.wait_for(rf'message=reloaded model=plane version={n}$')


def drop_capabilities():
    """Has the next program that is run as root obey the modes of files, too: prctl (PR_SET_SECUREBITS, SECBIT_NOROOT)."""
    ctypes.CDLL(None).prctl(28, 1)


def test_read_later(folder):
    """A file that nobody may read is loaded when that has changed."""
    path = make(folder)
    with Server(path, preexec_fn=drop_capabilities) as program:
        new = make(folder, 'new', intercept=1)
        os.chmod(new, 0)
        os.rename(new, path)
        program.wait_for('level=warning message="the new file cannot be loaded, the old model stays" .*Permission denied')
        os.chmod(path, 0o644)
        wait_for_prediction(program, 13.5)


def test_no_more_files(folder):
    """However many connect, there is a file left to read a new model."""
    path = make(folder)
    with Server(path, '--threads', '64', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))) as program:
        with contextlib.ExitStack() as stack:
            for _ in range(300):
                stack.enter_context(program.connect())
            # They are accepted meanwhile.
            for n in range(2, 30):
                write_model(path, intercept=n)
                program.wait_for(rf'message=reloaded model=plane version={n}$')
        assert program.predict([1, 2, 3]) == 12.5 + n


def test_no_more_files_for_bodies(folder):
    """Nor are more connections accepted than there may be while what came on others keeps all threads busy."""
    body = b'{"features":[' + b','.join([b'[1.25,2.125,3.0625]'] * 3000) + b']}'
    request = b'POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n' % len(body) + body
    path = make(folder)
    with Server(path, '--threads', '16', '--timeout', '300', listen=f'unix:{folder}/socket',
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))) as program:
        with contextlib.ExitStack() as stack:
            # All of them wait when the program goes on, or as many as may.
            program.process.send_signal(signal.SIGSTOP)
            with contextlib.suppress(BlockingIOError):
                for _ in range(600):
                    connection = stack.enter_context(program.connect())
                    connection.setblocking(False)
                    connection.send(request)
            program.process.send_signal(signal.SIGCONT)
            for n in range(2, 30):
                write_model(path, intercept=n)
                program.wait_for(rf'message=reloaded model=plane version={n}$')
        assert program.predict([1, 2, 3]) == 12.5 + n


def test_no_files_at_all(folder):
    """A server that may open no file when it is to watch the folders anew goes on as it did."""
    path = make(folder)
    # Without a file, ThreadSanitizer finds no names of functions, by which it knows what is GLib's own.
    with Server(path, env={'TSAN_OPTIONS': os.environ.get('TSAN_OPTIONS', '') + ':exitcode=0'}) as program:
        limits = resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        program.process.send_signal(signal.SIGHUP)
        program.wait_for('level=warning message="the new file cannot be loaded.*Too many open files')
        resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, limits)
        write_model(path, intercept=1)
        wait_for_prediction(program, 13.5)


def test_folder_is_gone(folder):
    """A folder that is removed takes nothing from who is served."""
    inner = os.path.join(folder, 'inner')
    os.mkdir(inner)
    with Server(make(inner)) as program:
        shutil.rmtree(inner)
        assert program.predict([1, 2, 3]) == 13


server.run([test_other_features, test_replaced, test_links, test_broken, test_no_file, test_signal, test_under_load,
            test_no_more_files, test_no_more_files_for_bodies, test_no_files_at_all, test_written_in_place, test_read_later,
            test_folder_is_gone, test_folder_is_replaced])

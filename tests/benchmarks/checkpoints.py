# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reference's own workloads: open a checkpoint and hand out every tensor, and save it.

    with-peer checkpoints.py CHECKPOINT VERSION

CHECKPOINT is checkpoint.c, built; VERSION its version. The Python package safetensors takes turns with it,
and with our reader and writer in Python. Fails where we take longer than the package, to open or, not
durable as the package is, to save. Durable saves have rounds of their own: what they leave the disk to do
would be waited for by who comes next. What is saved to memory is what a save takes without a disk.
"""

import os
import sys
import tempfile
import time

import gi
import numpy
import rounds
import safetensors
import safetensors.numpy

gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402

# Where there is no disk to wait for.
MEMORY = '/dev/shm'


def gpt2():
    """The names and shapes of GPT-2, 160 tensors."""
    tensors = {'wte': [50257, 768], 'wpe': [1024, 768]}
    for i in range(12):
        layer = {
            'ln_1.weight': [768], 'ln_1.bias': [768], 'attn.bias': [1, 1, 1024, 1024],
            'attn.c_attn.weight': [768, 2304], 'attn.c_attn.bias': [2304], 'attn.c_proj.weight': [768, 768],
            'attn.c_proj.bias': [768], 'ln_2.weight': [768], 'ln_2.bias': [768],
            'mlp.c_fc.weight': [768, 3072],
            'mlp.c_fc.bias': [3072], 'mlp.c_proj.weight': [3072, 768], 'mlp.c_proj.bias': [768],
        }
        tensors.update((f'h.{i}.{name}', shape) for name, shape in layer.items())
    tensors.update({'ln_f.weight': [768], 'ln_f.bias': [768]})
    return tensors


def lora():
    return {f'lora_{"ab"[i % 2]}.{i // 2}': [32, 32] for i in range(1000)}


def take_ours(path):
    reader = Apr.SafetensorsReader.new_from_path(path)
    return {name: reader.get_tensor(name) for name in reader.get_names()}


def take_ours_as_numpy(path):
    reader = Apr.SafetensorsReader.new_from_path(path)
    return {name: reader.get_tensor(name).numpy() for name in reader.get_names()}


def take_theirs(path):
    with safetensors.safe_open(path, 'np') as file:
        return {name: file.get_tensor(name) for name in file.keys()}


def save_ours(path, arrays, durable):
    writer = Apr.SafetensorsWriter(durable=durable)
    for name, array in arrays.items():
        writer.add_tensor(name, array)
    writer.write_to_path(path)


def save_theirs(path, arrays):
    safetensors.numpy.save_file(arrays, path)


ROWS = []


def report(title, times, reference):
    """Prints medians, and the reference's as a multiple of each; returns these multiples."""
    base = rounds.median(times[reference])
    ratios = {}
    for name, values in times.items():
        ratios[name] = base / rounds.median(values)
        if name != reference and reference.endswith('copied') or name == 'save to memory, ours in C':
            ROWS.append((title, name.replace(', ours', ''), rounds.show(base), rounds.show(rounds.median(values)), f'{ratios[name]:.1f}'))
        print(f'{title:8}{name:44}{rounds.show(rounds.median(values)):>14}{ratios[name]:10.2f}', flush=True)
    return ratios


def measure(title, shapes, program, folder, n_open, n_save):
    random = numpy.random.default_rng(1)
    arrays = {name: random.random(shape, dtype=numpy.float32) for name, shape in shapes.items()}
    path, other, source = (os.path.join(folder, f'{name}.safetensors') for name in ('ours', 'theirs', 'source'))
    n_bytes = sum(array.nbytes for array in arrays.values())
    print(f'{title}: {len(arrays)} tensors, {n_bytes} bytes')

    def clear(target):
        # All files, before they reach the disk: nobody waits for another's bytes.
        for file in path, other, target:
            if os.path.exists(file):
                os.unlink(file)
        os.sync()

    def timed(save, target, *arguments):
        clear(target)
        start = time.perf_counter()
        save(target, arrays, *arguments)
        return time.perf_counter() - start

    def save_in_c(source, target):
        clear(target)
        nanoseconds, saved = program.ask(f'{source}\t{target}')
        assert int(saved) == n_bytes
        return int(nanoseconds) / 1e9

    save_theirs(source, arrays)
    ratios = report(title, rounds.interleave({
        'save, theirs': lambda: timed(save_theirs, other),
        'save, ours': lambda: timed(save_ours, path, False),
        'save, ours in C': lambda: save_in_c(source, path),
    }, n_save), 'save, theirs')
    report(title, rounds.interleave({
        'save, ours': lambda: timed(save_ours, path, False),
        'save, ours, durable': lambda: timed(save_ours, path, True),
    }, n_save), 'save, ours')
    if os.access(MEMORY, os.W_OK):
        with tempfile.TemporaryDirectory(dir=MEMORY) as memory:
            target = os.path.join(memory, 'file.safetensors')
            tensors = {name: Apr.Tensor(array) for name, array in arrays.items()}
            ratios.update(report(title, rounds.interleave({
                'save to memory, theirs': lambda: timed(save_theirs, target),
                'save to memory, ours': lambda: timed(save_ours, target, True),
                'save to memory, ours, tensors made before': lambda: timed(
                    lambda *_: save_ours(target, tensors, True), target),
                'save to memory, ours in C': lambda: save_in_c(source, target),
            }, n_save), 'save to memory, theirs'))

    save_ours(path, arrays, False)
    save_theirs(other, arrays)
    with open(path, 'rb') as ours, open(other, 'rb') as theirs:
        while True:
            chunk = ours.read(1 << 24)
            assert chunk == theirs.read(1 << 24), 'the files differ'
            if not chunk:
                break

    def in_c():
        nanoseconds, taken = program.ask(path)
        assert int(taken) == n_bytes
        return int(nanoseconds) / 1e9

    assert all((array == arrays[name]).all() for name, array in take_ours_as_numpy(path).items())
    times = rounds.interleave({
        'open and take, theirs, copied': lambda: len(take_theirs(path)),
        'open and take, ours in C': in_c,
        'open and take, ours in Python': lambda: len(take_ours(path)),
        'open and take, ours in Python as numpy arrays': lambda: len(take_ours_as_numpy(path)),
    }, n_open)
    ratios.update(report(title, times, 'open and take, theirs, copied'))
    for file in path, other, source:
        os.unlink(file)
    return min(ratios.values()) >= 1


def main(checkpoint, version):
    print(f'# {rounds.machine()}')
    print(f'# ours: aprender {version}; theirs: the Python package safetensors {safetensors.__version__}')
    print('# medians of rounds in turn; the last column is theirs divided by ours')
    program = rounds.Program('ours', [checkpoint])
    with tempfile.TemporaryDirectory() as folder:
        ok = measure('lora', lora(), program, folder, 31, 11)
        ok = measure('gpt2', gpt2(), program, folder, 9, 9) and ok
    program.close()
    rounds.print_table(('checkpoint', 'what', 'safetensors (Python)', 'aprender', 'times as fast'), ROWS)
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

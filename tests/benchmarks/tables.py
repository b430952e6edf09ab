# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fitting a table in a file, as whole processes, beside pandas and polars with scikit-learn.

    with-peer tables.py TOOL VERSION [--megabytes N] [--rounds N]

TOOL is the command; VERSION its version. The table has 11 columns of numbers with 17 digits, in CSV. All fit the same
file in turns, from the start of the process to its end; of each, the least time, the least processor time, and the most
memory count. Fails where a bar is missed. Ours and polars work in threads: on a machine that others use too, only
processor times can be compared.
"""

import argparse
import importlib.metadata
import os
import random
import subprocess
import sys
import tempfile
import time

import rounds

# They are not imported here: the memory that a process has before it becomes another program counts as that program's.
try:
    VERSIONS = ', '.join(f'{name} {importlib.metadata.version(name)}' for name in ('pandas', 'polars', 'scikit-learn'))
except importlib.metadata.PackageNotFoundError as error:
    print(f'1..0 # SKIP there is no {error}: tests/interop/install-peers python installs pandas, polars and scikit-learn')
    sys.exit(0)

# How many times as long as ours the others take at least, and the bytes that ours may have.
BARS = {'pandas': 4, 'polars': 1.5}
MAX_MEMORY = 100e6

PROGRAMS = {
    'pandas': '''
import sys, pandas
from sklearn.linear_model import LinearRegression
table = pandas.read_csv(sys.argv[1])
y = table.pop('y')
print(LinearRegression().fit(table, y).coef_)
''',
    'polars': '''
import sys, polars
from sklearn.linear_model import LinearRegression
table = polars.read_csv(sys.argv[1])
X = table.drop('y').to_numpy()
print(LinearRegression().fit(X, table['y'].to_numpy()).coef_)
''',
}


def write_table(path, megabytes):
    """Blocks of the same rows, which is as good as any others for the time that they take."""
    numbers = random.Random(1)
    rows = [[numbers.gauss(0, 1) for _ in range(10)] for _ in range(20_000)]
    block = ''.join(','.join(map(repr, row)) + f',{sum(row) + numbers.gauss(0, 1)!r}\n' for row in rows)
    with open(path, 'w', encoding='ascii') as file:
        file.write(','.join(f'x{i}' for i in range(10)) + ',y\n')
        for _ in range(max(1, round(megabytes * 1e6 / len(block)))):
            file.write(block)


def measure(command):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tool')
    parser.add_argument('version')
    parser.add_argument('--megabytes', type=float, default=1000)
    parser.add_argument('--rounds', type=int, default=3)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, 'data.csv')
        write_table(data, arguments.megabytes)
        commands = {'aprender': [arguments.tool, 'fit', data, '-t', 'y', '-o', os.path.join(folder, 'm.safetensors')]}
        commands |= {name: [sys.executable, '-c', program, data] for name, program in PROGRAMS.items()}
        runs = {name: [] for name in commands}
        for _ in range(arguments.rounds):
            for name, command in commands.items():
                runs[name].append(measure(command))

        print(f'# {rounds.machine()}')
        print(f'# aprender {arguments.version}, {VERSIONS}; {os.path.getsize(data) / 1e6:.0f} MB, '
              f'{len(os.sched_getaffinity(0))} processors, {arguments.rounds} rounds')
    best = {name: (min(run[0] for run in own), min(run[1] for run in own), max(run[2] for run in own))
            for name, own in runs.items()}
    ours = best['aprender']
    rounds.print_table(('process', 'time', 'processor time', 'memory'), [
        (name, f'{wall:.2f} s', f'{processor:.2f} s', f'{memory / 1e6:.0f} MB') for name, (processor, wall, memory) in best.items()])
    print(f'1..{len(BARS) + 1}')
    status = 0
    for number, (name, bar) in enumerate(BARS.items(), 1):
        ratio = best[name][1] / ours[1]
        status |= ratio < bar
        print(f'{"not ok" if ratio < bar else "ok"} {number} {name}: {ratio:.1f} times as long, bar {bar}')
    status |= ours[2] > MAX_MEMORY
    print(f'{"not ok" if ours[2] > MAX_MEMORY else "ok"} {len(BARS) + 1} {ours[2] / 1e6:.0f} MB of memory, '
          f'bar {MAX_MEMORY / 1e6:.0f}')
    return status


sys.exit(main())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the benchmarks share: programs that take turns, and medians."""

import os
import platform
import statistics
import subprocess
import time


# A processor that has rested is slow at first: on some virtual machines it takes so many seconds.
WARM = 0.2


def rest():
    """Waits until this process is idle.

    A BLAS's threads wait for more work busily, OpenBLAS's for about 100 ms after each call: without a rest they would
    take their cores from whoever comes next.
    """
    while True:
        before = time.process_time()
        time.sleep(0.02)
        if time.process_time() - before < 0.002:
            return


class Program:
    """A program that answers a line with a line, and stays."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding='utf-8')

    def ask(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f'{self.name} has ended')
        return answer.split()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def interleave(functions, n_rounds):
    """Calls the functions in turn, so that a slow minute is everybody's, and returns the seconds of each."""
    times = {name: [] for name in functions}
    for n in range(n_rounds):
        names = list(functions)
        for name in names if n % 2 == 0 else reversed(names):
            rest()
            begin = time.perf_counter()
            elapsed = None
            while elapsed is None or time.perf_counter() - begin < WARM:
                # The last of them counts.
                start = time.perf_counter()
                result = functions[name]()
                elapsed = time.perf_counter() - start
            # A function that has measured itself, in another process, says so.
            times[name].append(result if isinstance(result, float) else elapsed)
    return times


def repeated(function, n):
    """A function that returns the mean seconds of n calls in a row, after one that is not counted."""
    def run():
        function()
        start = time.perf_counter()
        for _ in range(n):
            function()
        return (time.perf_counter() - start) / n
    return run


def median(times):
    return statistics.median(times)


def percentile(times, part):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def show(seconds):
    return f'{seconds * 1e3:.3f} ms' if seconds >= 1e-4 else f'{seconds * 1e6:.1f} µs'


def print_table(head, rows):
    """Prints Markdown, which update-page copies into docs/speed.md; all columns but the first hold numbers."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    line = ['-' * widths[0]] + ['-' * (width - 1) + ':' for width in widths[1:]]
    for row in [head, line, *rows]:
        print('| ' + ' | '.join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]) + ' |')


def machine():
    model = ''
    if os.path.exists('/proc/cpuinfo'):
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            model = next((line.split(': ', 1)[1].strip() for line in file if line.startswith('model name')),
                         '')
    return f'{platform.machine()}, {os.cpu_count()} cores {model}, Python {platform.python_version()}'

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scans files with the Python package safetensors; the same protocol as scan.c."""

import sys
import time

import safetensors

for line in sys.stdin:
    seconds, path = line.split(' ', 1)
    with open(path.strip(), 'rb') as file:
        content = file.read()
    verdict, times = '', []
    end = time.thread_time() + float(seconds)
    while len(times) < 3 or time.thread_time() < end:
        start = time.thread_time_ns()
        try:
            safetensors.deserialize(content)
            verdict = 'accept'
        except safetensors.SafetensorError:
            verdict = 'reject'
        times.append(time.thread_time_ns() - start)
    print(verdict, *times, flush=True)

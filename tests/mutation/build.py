# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the test programs of a folder with its changes."""

import json
import os
import pathlib
import shlex
import subprocess
import tempfile

import choices

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILDS = {
    False: ('_build-mutation', ['-Db_sanitize=address,undefined']),
    True: ('_build-mutation-plain', ['-Doptimization=2', '-Ddebug=false']),
}
LIBRARY = 'aprender/libaprender-static.a.p/'

# By folder: tests beside the unit tests of its name.
PROPERTIES = {
    'safetensors': [],
    'least-squares': ['dual', 'exact-answers', 'laws', 'least-squares', 'random-problems', 'small-systems'],
}


class Build:
    """The folder in which everything but the changes is built already."""

    def __init__(self, folder, test, is_plain):
        name, settings = BUILDS[is_plain]
        self.path = os.path.join(ROOT, name)
        self.folder = folder
        self.programs = [program for program in self.find_programs() if test in (None, program)]
        if not os.path.isdir(self.path):
            self.call(['meson', 'setup', self.path, ROOT, '--buildtype=debug', *settings,
                       '-Db_lundef=false', '-Dintrospection=disabled', '-Dvapi=disabled', '-Dtool=disabled'])
        self.call(['ninja', '-C', self.path, *(f'tests/{program}' for program in self.programs)])
        with open(os.path.join(self.path, 'compile_commands.json'), encoding='utf-8') as file:
            self.commands = {entry['output']: entry for entry in json.load(file)}
        self.users = self.find_users()
        self.links = {program: self.call(['ninja', '-C', self.path, '-t', 'commands', '-s', f'tests/{program}']).strip()
                      .splitlines()[-1] for program in self.programs}

    @staticmethod
    def call(command):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def find_programs(self):
        """The tests of the folder: all that have its name, and those of what it promises."""
        for name in sorted(os.listdir(os.path.join(ROOT, 'tests/unit', self.folder))):
            yield name.removesuffix('.c')
        for name in PROPERTIES[self.folder]:
            yield 'test-' + name

    def find_users(self):
        """Which objects each file of the folder goes into."""
        users = {}
        for block in self.call(['ninja', '-C', self.path, '-t', 'deps']).split('\n\n'):
            first, *rest = block.strip().splitlines() or ['']
            output = first.split(':')[0]
            if output.startswith(LIBRARY) or any(output.startswith(f'tests/{program}.p/') for program in self.programs):
                for line in rest:
                    path = os.path.relpath(os.path.join(self.path, line.strip()), ROOT)
                    users.setdefault(path, []).append(output)
        return users

    def compile(self, output, folder, options=()):
        """Compiles an object with the texts in a folder; returns its path, or None where they are no C."""
        entry = self.commands[output]
        command = shlex.split(entry['command'])
        if os.path.basename(command[0]) == 'ccache':
            del command[0]
        source = os.path.relpath(os.path.join(self.path, entry['file']), ROOT)
        copy = os.path.join(folder, source)
        path = os.path.join(folder, output.replace('/', '-'))
        command[command.index('-o') + 1] = path
        command[command.index(entry['file'])] = copy if os.path.exists(copy) else os.path.join(ROOT, source)
        command = [word for word in command if word not in ('-MD', '-MQ', '-MF') and word != output and not word.endswith('.o.d')]
        command[1:1] = ['-I' + folder]
        command += ['-w', *options]
        status = subprocess.run(command, cwd=self.path, stderr=subprocess.DEVNULL, check=False).returncode
        return path if status == 0 else None

    def is_same(self, mutant):
        """Whether the compiler makes the same of the file with the change and without it."""
        made = []
        for text in mutant.original, mutant.text:
            with tempfile.TemporaryDirectory(prefix='mutant-') as folder:
                write(folder, {mutant.path: text})
                objects = [self.compile(output, folder, ['-O2', '-g0', '-fno-sanitize=all'])
                           for output in self.users[mutant.path] if output.startswith(LIBRARY)]
                made.append([pathlib.Path(name).read_bytes() for name in objects])
        return made[0] == made[1]


def write(folder, texts):
    for path, text in texts.items():
        copy = os.path.join(folder, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        pathlib.Path(copy).write_text(text, encoding='utf-8')


class Variant:
    """The test programs with other texts of some files, each linked when it is asked for."""

    def __init__(self, build, texts):
        self.build = build
        self.folder = tempfile.TemporaryDirectory(prefix='mutants-')
        # Some tests go on as another user, who has to get there.
        os.chmod(self.folder.name, 0o755)
        write(self.folder.name, texts)
        self.outputs = sorted({output for path in texts for output in build.users[path]})
        self.programs = {}
        self.objects = {output: build.compile(output, self.folder.name) for output in self.outputs if output.startswith(LIBRARY)}
        self.is_valid = None not in self.objects.values()
        self.chosen = os.path.join(self.folder.name, 'chosen.o')
        compiler = [word for word in shlex.split(next(iter(build.links.values()))) if os.path.basename(word) != 'ccache'][0]
        build.call([compiler, '-c', '-o', self.chosen, os.path.join(ROOT, 'tests/mutation/chosen.c')])

    def link(self, program):
        """Returns the path of a program, or None where its own files are no C with the texts."""
        if program not in self.programs:
            own = {output: self.build.compile(output, self.folder.name) for output in self.outputs
                   if output.startswith(f'tests/{program}.p/')}
            objects = {**self.objects, **own}
            path = os.path.join(self.folder.name, program)
            command = shlex.split(self.build.links[program])
            command[command.index('-o') + 1] = path
            command = [objects.get(word, word) for word in command]
            # They come before the library, so that it is not asked for what they hold.
            command[1:1] = [self.chosen, *(name for output, name in objects.items() if output.startswith(LIBRARY))]
            if None not in own.values():
                subprocess.run(command, cwd=self.build.path, check=True, stderr=subprocess.DEVNULL)
            self.programs[program] = path if None not in own.values() else None
        return self.programs[program]

    def close(self):
        self.folder.cleanup()


def choose(build, mutants):
    """Builds one variant for all changes of bounds; returns it and their numbers, but of those that have to be built alone."""
    texts = {}
    numbers = {}
    by_path = {}
    for mutant in mutants:
        # Not all others keep what the rest of an expression is.
        if mutant.is_bound:
            by_path.setdefault(mutant.path, []).append(mutant)

    def find_valid(path, some):
        """Those that are C when they are written into one text."""
        with tempfile.TemporaryDirectory(prefix='mutant-') as folder:
            write(folder, {path: choices.write(some[0].original, some, 1)[0]})
            if build.compile(build.users[path][0], folder, ['-fsyntax-only']) is not None:
                return some
        half = len(some) // 2
        return find_valid(path, some[:half]) + find_valid(path, some[half:]) if half > 0 else []

    for path, some in by_path.items():
        valid = find_valid(path, some)
        if valid:
            texts[path], numbered = choices.write(valid[0].original, valid, 1 + len(numbers))
            numbers.update({mutant: number for number, mutant in numbered.items()})
    return Variant(build, texts), numbers

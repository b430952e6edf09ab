#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a desktop learns of Trendline: the tools that check such files find nothing, and all of it is translated.

Usage: test-data.py SOURCE BUILD, the two folders of the project
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

ID = 'org.aprender.Trendline'
LANGUAGES = ['de', 'es']


def run(*command):
    """Runs a tool, which must find nothing wrong; returns what it prints."""
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f'there is no {command[0]}')
    result = subprocess.run(command, capture_output=True, text=True, encoding='utf-8')
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def read(suffix):
    return (built / f'{ID}.{suffix}').read_text('utf-8')


def test_desktop_file():
    said = run('desktop-file-validate', str(built / f'{ID}.desktop'))
    assert said == '', said


def test_metainfo():
    run('appstreamcli', 'validate', '--no-net', str(built / f'{ID}.metainfo.xml'))


def test_names_agree():
    """One id throughout: a desktop finds window, file, icon and description by it."""
    desktop = dict(line.split('=', 1) for line in read('desktop').splitlines() if '=' in line)
    metainfo = ElementTree.fromstring(read('metainfo.xml'))
    manifest = json.loads((data / f'{ID}.json').read_text('utf-8'))
    assert desktop['Icon'] == metainfo.findtext('id') == manifest['id'] == ID
    assert metainfo.findtext('launchable') == f'{ID}.desktop'
    assert desktop['Exec'].split()[0] == metainfo.findtext('provides/binary') == manifest['command']
    types = [element.text for element in metainfo.iterfind('provides/mediatype')]
    assert desktop['MimeType'].strip(';').split(';') == types


def test_type_of_models():
    with tempfile.TemporaryDirectory() as folder:
        packages = pathlib.Path(folder, 'packages')
        packages.mkdir()
        shutil.copy(built / f'{ID}.mime.xml', packages)
        run('update-mime-database', folder)
        globs = pathlib.Path(folder, 'globs2').read_text('utf-8').splitlines()
        assert '50:application/x-safetensors:*.safetensors' in globs, globs


def test_icons():
    for suffix, size in (('', '128'), ('-symbolic', '16')):
        icon = ElementTree.parse(data / 'icons' / f'{ID}{suffix}.svg').getroot()
        assert icon.get('width') == icon.get('height') == size
        # Of a symbolic icon the toolkit replaces the colour, so there must be but one.
        colours = {element.get('fill') for element in icon.iter() if element.get('fill')}
        assert suffix == '' or len(colours) == 1, colours


def test_manifest():
    manifest = json.loads((data / f'{ID}.json').read_text('utf-8'))
    options = (source / 'meson_options.txt').read_text('utf-8')
    module = manifest['modules'][-1]
    for option in module['config-opts']:
        name = option.removeprefix('-D').split('=')[0]
        assert f"option('{name}'" in options, name
    assert (data / module['sources'][0]['path'] / 'meson.build').exists()
    # Files come through the portal.
    assert not any('filesystem' in argument for argument in manifest['finish-args'])


def test_translations():
    """A text that was added or changed has to be translated before it is shown to anybody."""
    with tempfile.TemporaryDirectory() as folder:
        template = str(pathlib.Path(folder, 'trendline.pot'))
        # As meson's preset glib has it.
        run('xgettext', '--from-code=UTF-8', '--keyword=_', '--keyword=N_', '--keyword=C_:1c,2', '--keyword=NC_:1c,2',
            '--keyword=g_dngettext:2,3', '--add-comments=Translators', '-D', str(source), '-f', str(po / 'POTFILES'),
            '-o', template)
        for language in LANGUAGES:
            merged = str(pathlib.Path(folder, f'{language}.po'))
            run('msgfmt', '--check', '-o', '/dev/null', str(po / f'{language}.po'))
            run('msgmerge', '--quiet', '--no-fuzzy-matching', '-o', merged, str(po / f'{language}.po'), template)
            missing = run('msgattrib', '--untranslated', '--no-obsolete', merged)
            assert missing == '', missing
            obsolete = run('msgattrib', '--only-obsolete', merged)
            assert obsolete == '', obsolete


def test_listed_files():
    """Each source with a text to translate is listed."""
    listed = [line for line in (po / 'POTFILES').read_text('utf-8').splitlines() if line and not line.startswith('#')]
    assert all((source / name).exists() for name in listed)
    for path in sorted((source / 'app').rglob('*')):
        if path.suffix in ('.c', '.ui', '.blp') and path.is_file():
            text = path.read_text('utf-8')
            marked = '_ (' in text or 'translatable="yes"' in text or '_("' in text
            assert not marked or str(path.relative_to(source)) in listed, f'{path} is not in POTFILES'
    languages = [line for line in (po / 'LINGUAS').read_text('utf-8').splitlines() if not line.startswith('#')]
    assert languages == LANGUAGES


source = pathlib.Path(sys.argv[1])
built = pathlib.Path(sys.argv[2], 'app', 'data')
data = source / 'app' / 'data'
po = source / 'app' / 'po'
harness.run([test_desktop_file, test_metainfo, test_names_agree, test_type_of_models, test_icons, test_manifest,
             test_translations, test_listed_files], skip_on=FileNotFoundError)

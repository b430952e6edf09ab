#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the site and reads it as a visitor would: every link, anchor and image leads somewhere, and a browser shows
each page on a narrow and a wide screen, in light and in dark, with nothing cut off, nothing hard to read and no error
in its scripts.

Usage: test-site.py GIR VERSION GI-DOCGEN BROWSER [APRENDER [WITH-DISPLAY DRAW-WINDOWS]]

BROWSER may be empty.
"""

import functools
import html.parser
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import xml.etree.ElementTree

gir, version, gi_docgen, browser = sys.argv[1:5]
here = pathlib.Path(__file__).resolve().parent
source = here.parent.parent
number = 0


def report(name, problems):
    global number
    number += 1
    print(f'{"not " if problems else ""}ok {number} {name}')
    for problem in problems[:40]:
        print(f'# {problem}')
    sys.stdout.flush()


class Page(html.parser.HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links = []
        self.anchors = set()
        self.untold = []
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ('id', 'name') if name in attributes}
        self.links += [attributes[name] for name in ('href', 'src') if attributes.get(name)]
        if tag == 'img' and not attributes.get('alt'):
            self.untold.append(attributes.get('src'))


def check_links(site):
    pages = {path: Page(path) for path in site.rglob('*.html')}
    problems = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.links:
            if re.match(r'[a-z]+:', link):
                continue
            target, _, anchor = link.partition('#')
            target = (path.parent / urllib.parse.unquote(target)).resolve() if target else path
            if not target.is_file():
                problems.append(f'{name}: {link} leads nowhere')
            elif anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].anchors:
                problems.append(f'{name}: {link}: there is no such place in the page')
        if path.parent == site:
            problems += [f'{name}: the picture {image} has no text instead' for image in page.untold]
    return problems


def check_search(site):
    """What the search finds is there, and it knows all symbols and all pages."""
    index = json.loads((site / 'search-index.js').read_text(encoding='utf-8').removeprefix('const SEARCH_INDEX = ').rstrip(';\n'))
    problems, anchors = [], {}
    for entry in index:
        target, _, anchor = entry['target'].partition('#')
        if not (site / target).is_file():
            problems.append(f'the search leads to {target}, which is not there')
            continue
        if target not in anchors:
            anchors[target] = Page(site / target).anchors
        if anchor and urllib.parse.unquote(anchor) not in anchors[target]:
            problems.append(f'the search leads to {entry["target"]}, which has no such place')
    found = ' '.join(entry['text'] for entry in index)
    problems += [f'the search does not know {function}' for function in sorted(set(re.findall(
        r'c:identifier="(apr_\w+)"', pathlib.Path(gir).read_text(encoding='utf-8')))) if function not in found]
    return problems


def check_pages(site):
    """Each page of the project is one of the site, and the menu of each leads to all."""
    expected = {path.stem.lower() + '.html' for path in [*(source / 'docs').glob('*.md'), *source.glob('*.md')]
                if path.name != 'README.md'}
    missing = [f'{name} is not in the site' for name in sorted(expected) if not (site / name).is_file()]
    for path in site.glob('*.html'):
        links = Page(path).links
        missing += [f'{path.name}: no link to {name}' for name in sorted(expected) if name not in links]
    # The tables of docs/errors.md have the codes of each domain, and no others.
    text = (source / 'docs' / 'errors.md').read_text(encoding='utf-8')
    core = '{http://www.gtk.org/introspection/core/1.0}'
    for domain in xml.etree.ElementTree.parse(gir).iter(f'{core}enumeration'):
        if domain.get('{http://www.gtk.org/introspection/glib/1.0}error-domain'):
            codes = {member.get('name').upper() for member in domain.iter(f'{core}member')}
            section = text.partition({'Error': '\n## What is wrong with data', 'SafetensorsError': '\n## What is wrong with a Safe'}
                                     [domain.get('name')])[2].partition('\n## ')[0]
            told = set(re.findall(r'^\| `(\w+)` \|', section, re.MULTILINE))
            missing += [f'docs/errors.md does not explain {code} of {domain.get("name")}' for code in sorted(codes - told)]
            missing += [f'docs/errors.md explains {code}, which {domain.get("name")} has not' for code in sorted(told - codes)]
    # Python and JavaScript have a place for each class, and Python one for each method, but for one that takes an address.
    for name in ('python', 'javascript'):
        anchors = Page(site / f'{name}-classes.html').anchors
        for class_ in xml.etree.ElementTree.parse(gir).iter(f'{core}class'):
            members = [f'{class_.get("name")}.{method.get("name")}' for method in class_.iter(f'{core}method')
                       if method.get('introspectable') != '0' and method.get('shadowed-by') is None
                       and method.get('name') != 'predict_into']
            missing += [f'{name}-classes.html has no {member}' for member in [class_.get('name'), *(members if name == 'python' else [])]
                        if member not in anchors]
    missing += check_types(core)
    if len(sys.argv) > 6 and shutil.which('Xvfb') and shutil.which('xdotool'):
        shown = (site / 'trendline.html').read_text(encoding='utf-8')
        missing += [f'trendline.html does not show the page {name}' for name in ('data', 'model', 'plots', 'predict')
                    if f'pictures/trendline-{name}.svg' not in shown]
    return missing


def check_types(core):
    """The types for JavaScript, which are written by hand, have each property and method but those that scripts do not call:
    what reads or sets a property, what ends an asynchronous call, and what is about C's memory."""
    of_c = {'ref', 'unref', 'get_doubles', 'get_floats', 'get_memory', 'predict_into', 'update_arrow', 'update_arrow_async'}
    text = (source / 'bindings' / 'gjs' / 'types' / 'Apr-1.0.d.ts').read_text(encoding='utf-8')
    types = {match.group(1): match.group() for match in re.finditer(r'^    (?:abstract )?class (\w+).*?^    }$', text, re.MULTILINE | re.DOTALL)}
    problems = []
    for class_ in xml.etree.ElementTree.parse(gir).iter():
        name = class_.get('name')
        if name not in types or class_.tag not in (f'{core}class', f'{core}record'):
            continue
        properties = {node.get('name').replace('-', '_') for node in class_.findall(f'{core}property')}
        methods = {node.get('name') for node in class_.findall(f'{core}method') if node.get('introspectable') != '0'}
        methods = {method for method in methods - of_c if not method.endswith('_finish') and re.sub('^[gs]et_', '', method) not in properties}
        problems += [f'the types for JavaScript have no {name}.{member}' for member in sorted(properties | methods)
                     if not re.search(rf"\b({member}|{member.removeprefix('get_')})\b", types[name])]
    return problems


def check_examples():
    """Each public class has a program in all languages, side by side: one whose C says its name."""
    core, glib = '{http://www.gtk.org/introspection/core/1.0}', '{http://www.gtk.org/introspection/glib/1.0}'
    folder = source / 'docs' / 'examples'
    programs = [path.read_text(encoding='utf-8') for path in folder.glob('*.c')
                if all(path.with_suffix(suffix).exists() for suffix in ('.vala', '.py', '.js'))]
    names = [node.get(f'{glib}type-name') for node in xml.etree.ElementTree.parse(gir).iter()
             if node.tag in (f'{core}class', f'{core}record') and node.get(f'{glib}get-type')]
    return [f'no program in all languages has {name}' for name in names
            if not any(re.search(rf'\b{name}\b', program) for program in programs)]


def ask_browser(address, scheme):
    """Returns: what the page that looks at all others wrote down"""
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run(
            [browser, '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
             f'--user-data-dir={profile}', f'--blink-settings=preferredColorScheme={0 if scheme == "dark" else 1}',
             '--window-size=1700,1000', '--virtual-time-budget=900000', '--dump-dom', f'{address}?{scheme}'],
            capture_output=True, text=True, timeout=800)
    match = re.search(r'<pre id="result">(.*?)</pre>', result.stdout, flags=re.DOTALL)
    if match is None or not match.group(1):
        return [f'the browser did not come to an end: {result.stderr[-400:]}']
    return json.loads(html.unescape(match.group(1)))


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def look(site):
    """Whether a browser is content with every page."""
    if not browser:
        for scheme in ('light', 'dark'):
            report(f'in a browser, {scheme} # SKIP there is no Chromium', [])
        return
    names = sorted(path.relative_to(site).as_posix() for path in [*site.glob('*.html'), *(site / 'reference').glob('*.html')])
    (site / 'look.html').write_text((here / 'look.html').read_text(encoding='utf-8').replace('PAGES', json.dumps(names)),
                                    encoding='utf-8')
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Silent, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for scheme in ('light', 'dark'):
        report(f'in a browser, {scheme}', ask_browser(f'http://127.0.0.1:{server.server_port}/look.html', scheme))
    server.shutdown()


print('1..5')
checked = subprocess.run([gi_docgen, 'check', f'--add-include-path={pathlib.Path(gir).parent}', gir], capture_output=True, text=True)
report('every symbol is documented', [line for line in (checked.stdout + checked.stderr).splitlines() if 'WARNING' in line])
with tempfile.TemporaryDirectory() as folder:
    site = pathlib.Path(folder).resolve() / 'site'
    made = subprocess.run([sys.executable, here / 'make-site', source, gir, version, gi_docgen, site, *sys.argv[5:]], capture_output=True, text=True)
    report('the site is made', [] if made.returncode == 0 else made.stderr.splitlines()[-20:])
    if made.returncode != 0:
        sys.exit(1)
    report('links', check_links(site) + check_search(site) + check_pages(site) + check_examples())
    look(site)

// SPDX-License-Identifier: LGPL-2.1-or-later

// The same program in several languages, one heading each, becomes one box with a tab for each language. The reader's
// choice holds for all boxes and all pages.
const LANGUAGES = ['C', 'Vala', 'Python', 'JavaScript'];
const boxes = [];

function remember (language)
{
  try {
    localStorage.setItem ('language', language);
  } catch {
    // A browser that stores nothing asks again on the next page.
  }
}

function recall ()
{
  try {
    return localStorage.getItem ('language');
  } catch {
    return null;
  }
}

function choose (language)
{
  for (const box of boxes)
    if (box.some (part => part.language === language))
      for (const part of box) {
        const chosen = part.language === language;

        part.panel.hidden = !chosen;
        part.tab.setAttribute ('aria-selected', chosen);
        part.tab.tabIndex = chosen ? 0 : -1;
      }
}

function makeBox (headings)
{
  const list = document.createElement ('div');
  const box = [];

  list.setAttribute ('role', 'tablist');
  list.setAttribute ('aria-label', 'Language');
  headings[0].before (list);
  for (const heading of headings) {
    const language = heading.textContent;
    const panel = document.createElement ('section');
    const tab = document.createElement ('button');

    heading.before (panel);
    while (panel.nextElementSibling === heading ||
           (panel.nextElementSibling && !/^H[1-3]$/.test (panel.nextElementSibling.tagName)))
      panel.append (panel.nextElementSibling);
    heading.hidden = true;
    panel.id = `${heading.id}-panel`;
    panel.setAttribute ('role', 'tabpanel');
    panel.setAttribute ('aria-label', language);
    tab.textContent = language;
    tab.type = 'button';
    tab.setAttribute ('role', 'tab');
    tab.setAttribute ('aria-controls', panel.id);
    tab.addEventListener ('click', () => { remember (language); choose (language); });
    list.append (tab);
    box.push ({ language, panel, tab });
  }
  list.addEventListener ('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const current = box.findIndex (part => part.tab === document.activeElement);

    if (step === undefined || current < 0)
      return;
    const next = box[(current + step + box.length) % box.length];
    next.tab.click ();
    next.tab.focus ();
  });
  boxes.push (box);
}

function makeBoxes ()
{
  const headings = [...document.querySelectorAll ('main h2, main h3')];

  for (let i = 0; i < headings.length;) {
    let end = i;

    while (end < headings.length && LANGUAGES.includes (headings[end].textContent) &&
           headings[end].tagName === headings[i].tagName)
      end++;
    if (end - i > 1)
      makeBox (headings.slice (i, end));
    i = Math.max (end, i + 1);
  }
}

// What a reader types: of a session in a terminal the commands, of anything else the whole text.
function getCode (block)
{
  const text = block.querySelector ('code').textContent;

  return block.dataset.language !== 'console' ? text
    : text.split ('\n').filter (line => line.startsWith ('$ ')).map (line => line.slice (2)).join ('\n');
}

function addCopyButtons ()
{
  if (!navigator.clipboard)
    return;
  for (const block of document.querySelectorAll ('.code')) {
    const button = document.createElement ('button');

    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener ('click', async () => {
      await navigator.clipboard.writeText (getCode (block));
      button.textContent = 'Copied';
      setTimeout (() => { button.textContent = 'Copy'; }, 2000);
    });
    block.append (button);
  }
}

function addAnchors ()
{
  for (const heading of document.querySelectorAll ('main h2[id], main h3[id]'))
    if (!heading.hidden) {
      const link = document.createElement ('a');

      link.className = 'anchor';
      link.href = `#${heading.id}`;
      link.textContent = '#';
      link.setAttribute ('aria-label', `Link to ${heading.textContent}`);
      heading.append (link);
    }
}

// A link to a heading within a box shows its language.
function followAnchor ()
{
  const heading = document.getElementById (decodeURIComponent (location.hash.slice (1)));

  if (heading && LANGUAGES.includes (heading.textContent)) {
    choose (heading.textContent);
    heading.parentElement.scrollIntoView ();
  }
}

// What stands around the first of the words that is in a text.
function quote (text, words)
{
  const place = Math.max (0, Math.min (...words.map (word => text.toLowerCase ().indexOf (word)).filter (i => i >= 0)) - 30);
  const start = place === 0 ? 0 : text.indexOf (' ', place) + 1;

  return (start > 0 ? '… ' : '') + text.slice (start, start + 90) + (start + 90 < text.length ? ' …' : '');
}

// What is called by the words comes first, then what begins with them, has them in its title, or in its text. Of those that are
// alike in this, what is in the reader's language comes first and what is in another one last, then the shorter title.
function search (query)
{
  const language = recall ();
  const words = query.toLowerCase ().split (/\s+/).filter (word => word !== '');
  const found = [];

  if (words.length === 0)
    return [];
  for (const entry of SEARCH_INDEX) {
    const [title, page, text] = [entry.title, entry.page, entry.text].map (part => part.toLowerCase ());
    const holds = part => words.every (word => part.includes (word));

    if (holds (`${title} ${page} ${text}`)) {
      const name = title.split ('.').pop ();
      const rank = name === words.join (' ') ? 0 : name.startsWith (words.join (' ')) ? 1 : holds (title) ? 2
        : holds (`${title} ${page}`) ? 3 : 4;
      const distance = language === null || !entry.language ? 1 : entry.language === language ? 0 : 2;

      found.push ({ ...entry, rank, distance, quote: words.some (word => text.includes (word)) ? quote (entry.text, words) : '' });
    }
  }
  return found.sort ((a, b) => a.rank - b.rank || a.distance - b.distance || a.title.length - b.title.length).slice (0, 20);
}

function setUpSearch ()
{
  const query = document.getElementById ('query');
  const hits = document.getElementById ('hits');

  query.addEventListener ('input', () => {
    const found = search (query.value);

    hits.replaceChildren (...found.map (entry => {
      const item = document.createElement ('li');
      const link = document.createElement ('a');
      const page = document.createElement ('span');
      const text = document.createElement ('small');

      link.href = entry.target;
      link.textContent = entry.title;
      page.textContent = entry.page ? ` ${entry.page}` : '';
      text.textContent = entry.quote;
      link.append (page, text);
      item.append (link);
      return item;
    }));
    hits.hidden = found.length === 0;
  });
  document.getElementById ('search').addEventListener ('submit', event => {
    event.preventDefault ();
    hits.querySelector ('a')?.click ();
  });
  // The arrow keys go from the words to what was found, and on.
  document.getElementById ('search').addEventListener ('keydown', event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [query, ...hits.querySelectorAll ('a')];

    if (step === undefined || hits.hidden)
      return;
    event.preventDefault ();
    stops[(stops.indexOf (document.activeElement) + step + stops.length) % stops.length].focus ();
  });
  document.addEventListener ('keydown', event => {
    if (event.key === 'Escape' && !hits.hidden) {
      hits.hidden = true;
      query.focus ();
    }
    if (event.key === '/' && document.activeElement !== query) {
      event.preventDefault ();
      query.focus ();
    }
  });
}

const wide = matchMedia ('(min-width: 56rem)');
const showMenu = () => { document.getElementById ('menu').open = wide.matches; };

showMenu ();
wide.addEventListener ('change', showMenu);
makeBoxes ();
for (const box of boxes)
  choose (box[0].language);
if (recall ())
  choose (recall ());
addAnchors ();
addCopyButtons ();
followAnchor ();
addEventListener ('hashchange', followAnchor);
setUpSearch ();
document.documentElement.dataset.ready = 'yes';

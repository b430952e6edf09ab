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

// A link to a heading within a box shows its language.
function followAnchor ()
{
  const heading = document.getElementById (decodeURIComponent (location.hash.slice (1)));

  if (heading && LANGUAGES.includes (heading.textContent)) {
    choose (heading.textContent);
    heading.parentElement.scrollIntoView ();
  }
}

function search (words)
{
  const parts = words.toLowerCase ().split (/\s+/).filter (word => word !== '');

  if (parts.length === 0)
    return [];
  const holds = text => parts.every (part => text.toLowerCase ().includes (part));
  const found = SEARCH_INDEX.filter (entry => holds (`${entry.title} ${entry.page ?? ''}`));

  // What is about the words itself comes before what stands on a page about them, and the shorter title first.
  return found.sort ((a, b) => holds (b.title) - holds (a.title) || a.title.length - b.title.length).slice (0, 12);
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

      link.href = entry.target;
      link.textContent = entry.title;
      page.textContent = entry.page ? ` ${entry.page}` : '';
      link.append (page);
      item.append (link);
      return item;
    }));
    hits.hidden = found.length === 0;
  });
  document.getElementById ('search').addEventListener ('submit', event => {
    event.preventDefault ();
    hits.querySelector ('a')?.click ();
  });
  document.addEventListener ('keydown', event => {
    if (event.key === 'Escape')
      hits.hidden = true;
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
followAnchor ();
addEventListener ('hashchange', followAnchor);
setUpSearch ();
document.documentElement.dataset.ready = 'yes';

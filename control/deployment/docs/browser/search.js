/** Searches all pages in the browser: the texts come at the first key. `/` begins, arrows choose, Enter opens. */
import { make } from './make.js';

const mostShown = 20;

/** Every word must be somewhere; in the title it counts most. */
const rank = (entry, words) => {
  let points = 0;
  for (const word of words) {
    if (entry.lowTitle.includes(word)) points += entry.lowTitle.startsWith(word) ? 12 : 8;
    else if (entry.lowWhere.includes(word)) points += 3;
    else if (entry.lowText.includes(word)) points += 1;
    else return 0;
  }
  return points;
};

/** The text around the first word. */
const around = ({ text, lowText }, [word = '']) => {
  const at = Math.max(0, lowText.indexOf(word) - 50);
  return `${at > 0 ? '…' : ''}${text.slice(at, at + 140)}${text.length > at + 140 ? '…' : ''}`;
};

const load = async () => {
  const answer = await fetch('/docs/search.json', { credentials: 'omit' });
  if (!answer.ok) throw new Error(String(answer.status));
  return (await answer.json()).map((entry) => ({
    ...entry,
    lowTitle: entry.title.toLowerCase(),
    lowWhere: entry.where.toLowerCase(),
    lowText: entry.text.toLowerCase(),
  }));
};

/** @param open called with the URL of what was chosen */
export const startSearch = (open) => {
  let entries = null;
  let chosen = -1;
  const input = make('input', {
    id: 'docs-search',
    type: 'search',
    placeholder: 'Search  /',
    autocomplete: 'off',
    spellcheck: false,
  });
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-label', 'Search the documentation');
  input.setAttribute('aria-expanded', 'false');
  input.setAttribute('aria-controls', 'docs-found');
  input.setAttribute('aria-autocomplete', 'list');
  const list = make('ul', { id: 'docs-found', hidden: true });
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Found');
  const status = make('p', { className: 'unseen' });
  status.setAttribute('role', 'status');
  const form = make('form', { className: 'search' }, input, list, status);
  form.setAttribute('role', 'search');

  const show = (isShown) => {
    list.hidden = !isShown;
    input.setAttribute('aria-expanded', String(isShown));
    if (!isShown) input.removeAttribute('aria-activedescendant');
  };

  const choose = (index) => {
    chosen = index;
    [...list.children].forEach((item, at) => {
      item.setAttribute('aria-selected', String(at === index));
      if (at === index) item.scrollIntoView({ block: 'nearest' });
    });
    if (index >= 0) input.setAttribute('aria-activedescendant', `docs-found-${index}`);
    else input.removeAttribute('aria-activedescendant');
  };

  const find = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return show(false);
    try {
      entries ??= load();
      const all = await entries;
      const found = all
        .map((entry) => ({ entry, points: rank(entry, words) }))
        .filter(({ points }) => points > 0)
        .sort((one, other) => other.points - one.points)
        .slice(0, mostShown);
      list.replaceChildren(
        ...found.map(({ entry }, index) => {
          const item = make(
            'li',
            { id: `docs-found-${index}` },
            make('strong', { textContent: entry.title }),
            make('span', { className: 'where', textContent: entry.where }),
            make('span', { className: 'text', textContent: around(entry, words) }),
          );
          item.setAttribute('role', 'option');
          item.addEventListener('click', () => open(entry.url));
          item.dataset.url = entry.url;
          return item;
        }),
      );
      status.textContent = found.length === 0 ? 'Nothing found' : `${found.length} found`;
      if (found.length === 0) list.append(make('li', { className: 'none', textContent: 'Nothing found' }));
      choose(found.length > 0 ? 0 : -1);
      show(true);
    } catch {
      entries = null;
      status.textContent = 'The search cannot be loaded. Try again.';
    }
  };

  input.addEventListener('input', find);
  input.addEventListener('keydown', (event) => {
    const count = list.querySelectorAll('[role="option"]').length;
    if (event.key === 'ArrowDown' && count > 0) choose((chosen + 1) % count);
    else if (event.key === 'ArrowUp' && count > 0) choose((chosen + count - 1) % count);
    else if (event.key === 'Escape') show(false);
    else return;
    event.preventDefault();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const url = list.children[chosen]?.dataset.url;
    if (url) open(url);
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) show(false);
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName ?? '');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  return { form, show };
};

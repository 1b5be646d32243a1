/**
 * Sends a request of the page with the caller's key. The key is in the memory of this page alone: in no URL, no storage
 * and no cookie, and it goes to this server only.
 */
import { make } from './make.js';

let key = '';
/** Of an answer that is shown; a stream without an end is cut there. */
const mostShown = 100_000;
const longestMs = 10_000;

export const addTryForms = (part) => {
  for (const box of part.querySelectorAll('details.try[hidden]')) {
    box.hidden = false;
    const form = box.querySelector('form');
    const outcome = box.querySelector('.outcome');
    if (form.hasAttribute('data-key')) {
      const input = make('input', { type: 'password', autocomplete: 'off', spellcheck: false, value: key });
      input.required = true;
      input.addEventListener('input', () => {
        key = input.value.trim();
      });
      box.addEventListener('toggle', () => {
        input.value = key;
      });
      form.prepend(
        make(
          'label',
          {},
          'Your key ',
          make('span', { className: 'need', textContent: 'stays in this page, is stored nowhere' }),
          input,
        ),
      );
    }
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      send(form, outcome);
    });
  }
};

const requestOf = (form) => {
  const value = (input) => input.value.trim();
  const inputs = [...form.querySelectorAll('[data-in]')];
  const of = (where) => inputs.filter((input) => input.dataset.in === where && value(input) !== '');
  const path = form.dataset.path.replaceAll(/\{([^}]*)\}/g, (_, name) => {
    const given = of('path').find((input) => input.name === name);
    return encodeURIComponent(given ? value(given) : '');
  });
  const query = new URLSearchParams(of('query').map((input) => [input.name, value(input)]));
  const headers = Object.fromEntries(of('header').map((input) => [input.name, value(input)]));
  if (form.hasAttribute('data-key')) headers.authorization = `Bearer ${key}`;
  const [body] = of('body');
  const file = inputs.find((input) => input.dataset.in === 'file')?.files?.[0];
  if (body) headers['content-type'] = body.dataset.type;
  const data = file ? new FormData() : undefined;
  if (file) data.append('file', file);
  return {
    url: `${path}${query.size > 0 ? `?${query}` : ''}`,
    options: {
      method: form.dataset.method,
      headers,
      body: data ?? (body && value(body)),
      credentials: 'omit',
    },
  };
};

const send = async (form, outcome) => {
  const button = form.querySelector('button[type=submit]');
  const { url, options } = requestOf(form);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), longestMs);
  const began = performance.now();
  button.disabled = true;
  outcome.replaceChildren(make('p', { textContent: 'Waiting for the answer …' }));
  try {
    const answer = await fetch(url, { ...options, signal: stop.signal });
    const took = Math.round(performance.now() - began);
    outcome.replaceChildren(
      make('p', { textContent: `${answer.status} ${answer.statusText} after ${took} ms` }),
      ...(await bodyParts(answer)),
    );
  } catch {
    const text = stop.signal.aborted
      ? 'No answer within 10 s.'
      : 'The request could not be sent. Check the address and the network.';
    outcome.replaceChildren(make('p', { className: 'warning', textContent: text }));
  } finally {
    clearTimeout(timer);
    button.disabled = false;
  }
};

const bodyParts = async (answer) => {
  const type = answer.headers.get('content-type') ?? '';
  if (!/json|text|javascript/.test(type)) {
    await answer.body?.cancel();
    return type === '' ? [] : [make('p', { textContent: `A file of the type ${type}.` })];
  }
  const text = await readText(answer);
  const block = make(
    'pre',
    { tabIndex: 0 },
    make('code', { textContent: type.includes('json') ? pretty(text) : text }),
  );
  block.setAttribute('role', 'group');
  block.setAttribute('aria-label', 'Answer');
  return [block];
};

/** What has come until the end, the limit or the time. */
const readText = async (answer) => {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > mostShown) break;
    }
  } catch {
    // The time is over: a stream goes on.
  }
  return text.length > mostShown ? `${text.slice(0, mostShown)}\n…` : text;
};

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

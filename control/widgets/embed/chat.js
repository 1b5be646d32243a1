/**
 * The chat of a widget, for any page: <script src="https://…/widget/<id>/embed.js" async></script>
 *
 * Plain browser JavaScript without dependencies. It lives in a shadow root, inserts text only as text, evaluates
 * nothing and adds no style elements, so a strict Content-Security-Policy needs only script-src and connect-src.
 * docs/widgets.md describes its data attributes.
 */
(() => {
  const script = document.currentScript;
  const address = /^(.*)\/widget\/([0-9a-f-]{36})\/embed\.js(?:[?#].*)?$/.exec(script?.src ?? '');
  if (!address) {
    console.error('Chat: the script must be loaded by a script element, from …/widget/<id>/embed.js');
    return;
  }
  const [, base, widgetId] = address;
  const api = `${base}/v1/widget/${widgetId}`;
  const hostId = `chat-${widgetId}`;
  if (document.getElementById(hostId)) return;

  // ------------------------------------------------------------------ settings

  const given = script.dataset;
  const texts = {
    title: given.title || 'Chat',
    open: given.openLabel || 'Open chat',
    close: given.closeLabel || 'Close chat',
    placeholder: given.placeholder || 'Write a message…',
    send: given.sendLabel || 'Send',
    you: given.youLabel || 'You',
    agent: given.agentLabel || 'Assistant',
    writing: given.writingText || 'The assistant is writing…',
    handoff: given.handoffText || 'You are now talking to a person.',
    ended: given.endedText || 'This conversation has ended.',
    again: given.againLabel || 'Start a new conversation',
    failed: given.failedText || 'Your message was not answered.',
    retry: given.retryLabel || 'Try again',
    busy: given.busyText || 'Too many messages at once. Please wait a moment.',
    offline: given.offlineText || 'Connecting…',
    refused: given.refusedText || 'The chat is not available on this page.',
  };
  const maxLength = 4000;
  const remembered = `chat:${base}:${widgetId}`;
  /** ms without data after which a connection counts as lost; the server never pauses for longer than 30 s */
  const silenceMs = 70_000;

  // ------------------------------------------------------------------ memory

  /** What a page may not store (private windows, sandboxed frames) is kept while the page is open. */
  const memory = {
    kept: null,
    read() {
      try {
        return JSON.parse(localStorage.getItem(remembered) ?? 'null') ?? this.kept ?? {};
      } catch {
        return this.kept ?? {};
      }
    },
    write(change) {
      this.kept = { ...this.read(), ...change };
      try {
        localStorage.setItem(remembered, JSON.stringify(this.kept));
      } catch {
        // It is kept in memory.
      }
    },
  };

  // ------------------------------------------------------------------ elements

  /** Replaced by the contents of chat.css when the script is served. */
  const css = '@chat.css';

  /** Creates an element. Members of `props` are properties; names with a hyphen, and role, are attributes. */
  const make = (tag, props = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
      if (name.includes('-') || name === 'role' || name === 'for') element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children);
    return element;
  };

  const icon = () => {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 24 24');
    svg.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', 'M21 12a8 8 0 0 1-8 8H4l2-3a8 8 0 1 1 15-5z');
    svg.append(path);
    return svg;
  };

  const unread = make('span', { className: 'unread', hidden: true, 'aria-hidden': 'true' });
  const launcher = make(
    'button',
    {
      type: 'button',
      className: 'launcher',
      'aria-expanded': 'false',
      'aria-controls': 'panel',
      'aria-label': texts.open,
    },
    icon(),
    unread,
  );
  const closer = make('button', { type: 'button', 'aria-label': texts.close, textContent: '×' });
  const log = make('div', {
    className: 'log',
    role: 'log',
    tabIndex: 0,
    'aria-live': 'off',
    'aria-labelledby': 'title',
  });
  const status = make('div', { className: 'status', role: 'status' });
  const spoken = make('div', { className: 'hidden', 'aria-live': 'polite', 'aria-atomic': 'true' });
  const input = make('textarea', {
    id: 'input',
    rows: 1,
    maxLength,
    placeholder: texts.placeholder,
    dir: 'auto',
  });
  const form = make(
    'form',
    {},
    make('label', { className: 'hidden', for: 'input', textContent: texts.placeholder }),
    input,
    make('button', { type: 'submit', className: 'send', textContent: texts.send }),
  );
  const again = make('button', {
    type: 'button',
    className: 'again',
    hidden: true,
    textContent: texts.again,
  });
  const panel = make(
    'section',
    { id: 'panel', className: 'panel', role: 'dialog', 'aria-labelledby': 'title', hidden: true },
    make(
      'div',
      { className: 'head' },
      make('h2', { id: 'title', textContent: texts.title, dir: 'auto' }),
      closer,
    ),
    log,
    status,
    form,
    again,
  );
  const root = make('div', { className: 'root' }, panel, launcher, spoken);
  const host = make('div', { id: hostId });

  const dress = () => {
    if (given.position === 'left') root.classList.add('left');
    host.dataset.theme = ['light', 'dark', 'auto'].includes(given.theme) ? given.theme : 'light';
    if (given.lang) root.lang = given.lang;
    const color = /^#[0-9a-f]{6}$/i.test(given.color ?? '') ? given.color : null;
    if (!color) return;
    host.style.setProperty('--chat-color', color);
    host.style.setProperty('--chat-on-color', luminance(color) > 0.179 ? '#000' : '#fff');
  };

  /** Relative luminance (WCAG 2.2): at 0.179 black and white have the same contrast. */
  const luminance = (color) => {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };

  const mount = () => {
    const shadow = host.attachShadow({ mode: 'open' });
    if ('adoptedStyleSheets' in shadow) {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      shadow.adoptedStyleSheets = [sheet];
    } else shadow.append(make('style', { textContent: css }));
    dress();
    shadow.append(root);
    document.body.append(host);
  };

  // ------------------------------------------------------------------ the log

  /** Elements by message id, including answers still being written. */
  const shown = new Map();
  const partial = new Set();
  /** Own messages being sent, oldest first. */
  const waiting = [];
  let handedOff = false;
  let ended = false;
  let unreadCount = 0;
  /** Before that, messages are from earlier visits, which are neither counted nor announced. */
  let settled = false;

  const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  const append = (element, before = null) => {
    const follow = atEnd();
    log.insertBefore(element, before);
    if (follow) log.scrollTop = log.scrollHeight;
    return element;
  };
  const bubble = (sender, text) =>
    make(
      'p',
      { className: `message ${sender === 'USER' ? 'user' : 'agent'}`, dir: 'auto' },
      make('span', { className: 'hidden', textContent: `${sender === 'USER' ? texts.you : texts.agent}: ` }),
      make('span', { className: 'text', textContent: text }),
    );
  const note = (text) => append(make('p', { className: 'note', textContent: text }));
  const announce = (text) => {
    spoken.textContent = text;
  };

  const showPart = ({ id, text }) => {
    let element = shown.get(id);
    if (element && !partial.has(id)) return;
    if (!element) {
      element = append(bubble('ASSISTANT', ''), waiting[0]?.element ?? null);
      element.setAttribute('aria-busy', 'true');
      shown.set(id, element);
      partial.add(id);
    }
    const follow = atEnd();
    element.querySelector('.text').append(text);
    if (follow) log.scrollTop = log.scrollHeight;
  };

  const dropParts = () => {
    for (const id of partial) {
      shown.get(id)?.remove();
      shown.delete(id);
    }
    partial.clear();
  };

  const showMessage = ({ id, sender_type: sender, content }) => {
    const known = shown.get(id);
    if (known && !partial.has(id)) return;
    if (sender === 'USER') dropParts();
    const mine = sender === 'USER' ? takeWaiting(content) : null;
    const element = bubble(sender, content);
    if (known) known.replaceWith(element);
    else if (mine) mine.replaceWith(element);
    else append(element, waiting[0]?.element ?? null);
    partial.delete(id);
    shown.set(id, element);
    if (sender !== 'ASSISTANT' || !settled) return;
    announce(`${texts.agent}: ${content}`);
    if (panel.hidden) showUnread(unreadCount + 1);
  };

  /** The element of our own message that came back, possibly masked. */
  const takeWaiting = (content) => {
    const index = waiting.findIndex(
      ({ text }) => text === content || (content.includes('*') && content.length === text.length),
    );
    if (index < 0) return null;
    const [{ element, remedy }] = waiting.splice(index, 1);
    remedy?.remove();
    return element;
  };

  const showUnread = (count) => {
    unreadCount = count;
    unread.hidden = count === 0;
    unread.textContent = String(count);
    if (panel.hidden) launcher.setAttribute('aria-label', count ? `${texts.open} (${count})` : texts.open);
  };

  const showHandoff = () => {
    if (handedOff) return;
    handedOff = true;
    note(texts.handoff);
    if (settled) announce(texts.handoff);
  };

  const showEnd = () => {
    if (ended) return;
    ended = true;
    dropParts();
    note(texts.ended);
    announce(texts.ended);
    const focused = form.contains(host.shadowRoot.activeElement);
    form.hidden = true;
    again.hidden = false;
    if (focused) again.focus();
  };

  const reset = () => {
    log.replaceChildren();
    shown.clear();
    partial.clear();
    waiting.length = 0;
    handedOff = false;
    ended = false;
    settled = false;
    lastEvent = '';
    form.hidden = false;
    again.hidden = true;
    status.textContent = '';
  };

  // ------------------------------------------------------------------ talking to the server

  let session = null;
  /** The requested session. */
  let coming = null;
  let lastEvent = '';
  /** The open or opening stream. */
  let streaming = null;

  const ask = async (method, path, { token, body, signal, headers } = {}) =>
    fetch(`${api}${path}`, {
      method,
      mode: 'cors',
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      signal,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });

  /** Browsers do not tell a page that its origin is rejected; that the script can still be loaded shows it. */
  const explain = async (error) => {
    await fetch(script.src, { mode: 'no-cors', cache: 'no-store' });
    throw Object.assign(error, { status: 403 });
  };

  /** The remembered session while it is valid, else a new one: for the visitor's open thread, or a new thread. */
  const getSession = () => {
    if (session) return Promise.resolve(session);
    // The stream and the first message may request it at once: both must get the same thread.
    coming ??= newSession().finally(() => {
      coming = null;
    });
    return coming;
  };

  const newSession = async () => {
    const { session: kept, visitor_id } = memory.read();
    if (kept && Date.parse(kept.expires_at) > Date.now() + 60_000) {
      session = kept;
      return session;
    }
    const answer = await ask('POST', '/session', { body: visitor_id ? { visitor_id } : {} }).catch(explain);
    if (!answer.ok) throw Object.assign(new Error(`session: ${answer.status}`), { status: answer.status });
    const { data } = await answer.json();
    session = { token: data.token, thread_id: data.thread_id, expires_at: data.expires_at };
    memory.write({ visitor_id: data.visitor_id, session });
    return session;
  };

  const forgetSession = () => {
    session = null;
    memory.write({ session: null });
  };

  /** Waits this long, or until the network is back or `signal` is aborted. */
  const pause = (ms, signal) =>
    new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', go);
        removeEventListener('online', go);
        resolve();
      };
      const timer = setTimeout(go, ms);
      signal.addEventListener('abort', go);
      addEventListener('online', go);
    });

  /** Keeps a stream of the thread's events open until the thread has ended. */
  const follow = async () => {
    if (streaming) return;
    const stop = new AbortController();
    streaming = stop;
    for (let failures = 0, refusals = 0; !ended && !stop.signal.aborted; ) {
      const before = lastEvent;
      const outcome = await readEvents(stop.signal).catch(() => 'lost');
      if (stop.signal.aborted || ended) break;
      refusals = outcome === 'refused' ? refusals + 1 : 0;
      // A single one may be due to a restart.
      if (refusals > 1) {
        status.textContent = texts.refused;
        form.hidden = true;
        break;
      }
      failures = outcome === 'over' || lastEvent !== before ? 0 : failures + 1;
      if (failures > 0) status.textContent = texts.offline;
      const wait = Math.min(30_000, 1000 * 2 ** Math.min(failures, 5)) * (0.5 + Math.random() / 2);
      await pause(outcome === 'over' ? 500 : wait, stop.signal);
    }
    if (streaming === stop) streaming = null;
  };

  /** Reads one connection to its end. Returns why it ended. */
  const readEvents = async (outer) => {
    const lost = new AbortController();
    const signal = lost.signal;
    const abort = () => lost.abort();
    outer.addEventListener('abort', abort, { once: true });
    let timer = setTimeout(abort, silenceMs);
    try {
      const { token, thread_id } = await getSession();
      const answer = await ask('GET', `/threads/${thread_id}/events`, {
        token,
        signal,
        headers: lastEvent ? { 'last-event-id': lastEvent } : {},
      });
      if (answer.status === 401 || answer.status === 404) {
        forgetSession();
        reset();
        return 'lost';
      }
      if (!answer.ok || !answer.body) return 'lost';
      if (status.textContent === texts.offline) status.textContent = '';
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ''; ; ) {
        const { done, value } = await reader.read();
        if (done) return 'over';
        clearTimeout(timer);
        timer = setTimeout(abort, silenceMs);
        const blocks = (rest + value).split('\n\n');
        rest = blocks.pop();
        blocks.forEach(takeEvent);
      }
    } catch (error) {
      return error?.status === 403 || error?.status === 404 ? 'refused' : 'lost';
    } finally {
      clearTimeout(timer);
      lost.abort();
      outer.removeEventListener('abort', abort);
    }
  };

  const takeEvent = (block) => {
    const fields = Object.fromEntries(
      block.split('\n').map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
      }),
    );
    if (fields.id) lastEvent = fields.id;
    if (fields.event === 'message') showMessage(JSON.parse(fields.data));
    else if (fields.event === 'delta') showPart(JSON.parse(fields.data));
    else if (fields.event === 'handoff') showHandoff();
    else if (fields.event === 'ended') {
      forgetSession();
      showEnd();
    }
    // Earlier messages come in one batch; later ones are new.
    if (!settled)
      setTimeout(() => {
        settled = true;
      }, 300);
  };

  /** `crypto.randomUUID` is missing on pages without TLS. */
  const newKey = () =>
    [...crypto.getRandomValues(new Uint8Array(16))]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('');

  let sending = Promise.resolve();
  /** @param key of the request: the same when it is resent, so that the message is not stored twice */
  const send = (text, key = newKey()) => {
    const element = append(bubble('USER', text));
    element.classList.add('waiting');
    log.scrollTop = log.scrollHeight;
    const one = { text, key, element, remedy: null };
    waiting.push(one);
    settled = true;
    sending = sending.then(() => deliver(one));
  };

  const deliver = async (one) => {
    status.textContent = handedOff ? '' : texts.writing;
    try {
      const { token, thread_id } = await getSession();
      const answer = await ask('POST', `/threads/${thread_id}/messages`, {
        token,
        body: { content: one.text },
        headers: { 'idempotency-key': one.key },
      });
      const { data, errors } = await answer.json();
      status.textContent = '';
      if (answer.ok) {
        data.messages.forEach(showMessage);
        if (data.thread.ended_at) showEnd();
        return;
      }
      dropParts();
      // An error response is kept under its key.
      if (answer.status < 500 && answer.status !== 429) one.key = newKey();
      if (answer.status === 401) forgetSession();
      const [{ code }] = errors;
      if (code === 'THREAD_ENDED') showEnd();
      offerRetry(one, answer.status === 429 ? texts.busy : texts.failed);
    } catch {
      status.textContent = '';
      offerRetry(one, texts.failed);
    }
  };

  /** If only the response was lost, the message appears in the stream, which removes the offer again. */
  const offerRetry = (one, text) => {
    one.element.classList.remove('waiting');
    if (ended) return;
    const retry = make('button', { type: 'button', textContent: texts.retry });
    const remedy = make('p', { className: 'note', role: 'alert' }, text, retry);
    retry.addEventListener('click', () => {
      remedy.remove();
      one.element.remove();
      const index = waiting.indexOf(one);
      if (index >= 0) waiting.splice(index, 1);
      send(one.text, one.key);
      input.focus();
    });
    one.remedy = waiting.includes(one) ? remedy : null;
    append(remedy);
  };

  // ------------------------------------------------------------------ the person

  const show = (byHand) => {
    panel.hidden = false;
    root.classList.add('open');
    launcher.setAttribute('aria-expanded', 'true');
    launcher.setAttribute('aria-label', texts.close);
    showUnread(0);
    memory.write({ open: true });
    log.scrollTop = log.scrollHeight;
    if (byHand) (form.hidden ? again : input).focus();
    follow();
  };

  const hide = () => {
    panel.hidden = true;
    root.classList.remove('open');
    launcher.setAttribute('aria-expanded', 'false');
    launcher.setAttribute('aria-label', texts.open);
    memory.write({ open: false });
    launcher.focus();
  };

  launcher.addEventListener('click', () => (panel.hidden ? show(true) : hide()));
  closer.addEventListener('click', hide);
  panel.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide();
    event.stopPropagation();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  input.addEventListener('input', () => {
    input.style.height = 'auto';
    input.style.height = `${Math.min(132, input.scrollHeight + 2)}px`;
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text === '') return;
    input.value = '';
    input.style.height = '';
    send(text);
  });
  again.addEventListener('click', () => {
    streaming?.abort();
    streaming = null;
    forgetSession();
    reset();
    input.focus();
    follow();
  });
  // A page restored from the browser's cache has lost its connections.
  addEventListener('pageshow', (event) => {
    if (!event.persisted || !streaming) return;
    streaming.abort();
    streaming = null;
    follow();
  });

  const begin = () => {
    mount();
    const { open, session: kept } = memory.read();
    if (open ?? given.open === 'true') show(false);
    else if (kept) follow();
  };
  if (document.body) begin();
  else document.addEventListener('DOMContentLoaded', begin, { once: true });
})();

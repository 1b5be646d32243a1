/** The conversation as it is shown: messages, answers being written, notes, and its end. */
import { make } from './panel.js';

export const createConversation = ({ texts }, elements) => {
  const { panel, launcher, unread, log, status, spoken, form, again, host } = elements;
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

  /** Empties it for a new thread. */
  const reset = () => {
    log.replaceChildren();
    shown.clear();
    partial.clear();
    waiting.length = 0;
    handedOff = false;
    ended = false;
    settled = false;
    form.hidden = false;
    again.hidden = true;
    status.textContent = '';
  };

  return {
    waiting,
    get handedOff() {
      return handedOff;
    },
    get ended() {
      return ended;
    },
    get settled() {
      return settled;
    },
    settle: () => {
      settled = true;
    },
    append,
    bubble,
    showPart,
    dropParts,
    showMessage,
    showUnread,
    showHandoff,
    showEnd,
    reset,
  };
};

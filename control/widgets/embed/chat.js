/**
 * The chat of a widget, for any page: <script src="https://…/widget/<id>/embed.js" async></script>
 *
 * Plain browser JavaScript without dependencies. It lives in a shadow root, inserts text only as text, evaluates
 * nothing and adds no style elements, so a strict Content-Security-Policy needs only script-src and connect-src.
 * docs/widgets.md describes its data attributes.
 *
 * The files of this folder are modules to editors and linters. The server joins them into the one script that pages
 * load (embed-script.ts): a module would need further requests, and could not find its script element.
 */
import { createConversation } from './conversation.js';
import { createOutbox } from './outbox.js';
import { readPage } from './page.js';
import { createPanel } from './panel.js';
import { createSession } from './session.js';
import { createStream } from './stream.js';

const start = (page) => {
  const { given, memory } = page;
  const elements = createPanel(page);
  const { launcher, closer, log, input, form, again, panel, root, mount } = elements;
  const { texts } = page;
  const conversation = createConversation(page, elements);
  const session = createSession(page);
  const stream = createStream(page, elements, session, conversation);
  const outbox = createOutbox(page, elements, session, conversation);

  const show = (byHand) => {
    panel.hidden = false;
    root.classList.add('open');
    launcher.setAttribute('aria-expanded', 'true');
    launcher.setAttribute('aria-label', texts.close);
    conversation.showUnread(0);
    memory.write({ open: true });
    log.scrollTop = log.scrollHeight;
    if (byHand) (form.hidden ? again : input).focus();
    stream.follow();
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
    outbox.send(text);
  });
  again.addEventListener('click', () => {
    stream.stop();
    session.forget();
    stream.reset();
    input.focus();
    stream.follow();
  });
  // A page restored from the browser's cache has lost its connections.
  addEventListener('pageshow', (event) => {
    if (!event.persisted || !stream.open) return;
    stream.stop();
    stream.follow();
  });

  const begin = () => {
    mount();
    const { open, session: kept } = memory.read();
    if (open ?? given.open === 'true') show(false);
    else if (kept) stream.follow();
  };
  if (document.body) begin();
  else document.addEventListener('DOMContentLoaded', begin, { once: true });
  return { page, elements, session, conversation };
};

const page = readPage();
/** null: none has started. */
export const chat = page && start(page);

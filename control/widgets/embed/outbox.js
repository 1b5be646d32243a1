/** The visitor's own messages: shown at once, sent one after the other, and offered again when they fail. */
import { make } from './panel.js';

export const createOutbox = ({ texts }, { log, status, input }, session, conversation) => {
  const { waiting, append } = conversation;
  let sending = Promise.resolve();

  /** @param key of the request: the same when it is resent, so that the message is not stored twice */
  const send = (text, key = newKey()) => {
    const element = append(conversation.bubble('USER', text));
    element.classList.add('waiting');
    log.scrollTop = log.scrollHeight;
    const one = { text, key, element, remedy: null };
    waiting.push(one);
    conversation.settle();
    sending = sending.then(() => deliver(one));
  };

  const deliver = async (one) => {
    status.textContent = conversation.handedOff ? '' : texts.writing;
    try {
      const { token, thread_id } = await session.get();
      const answer = await session.ask('POST', `/threads/${thread_id}/messages`, {
        token,
        body: { content: one.text },
        headers: { 'idempotency-key': one.key },
      });
      const { data, errors } = await answer.json();
      status.textContent = '';
      if (answer.ok) {
        data.messages.forEach(conversation.showMessage);
        if (data.thread.ended_at) conversation.showEnd();
        return;
      }
      conversation.dropParts();
      // An error response is kept under its key.
      if (answer.status < 500 && answer.status !== 429) one.key = newKey();
      if (answer.status === 401) session.forget();
      const [{ code }] = errors;
      if (code === 'THREAD_ENDED') conversation.showEnd();
      offerRetry(one, answer.status === 429 ? texts.busy : texts.failed);
    } catch {
      status.textContent = '';
      offerRetry(one, texts.failed);
    }
  };

  /** If only the response was lost, the message appears in the stream, which removes the offer again. */
  const offerRetry = (one, text) => {
    one.element.classList.remove('waiting');
    if (conversation.ended) return;
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

  return { send };
};

/** `crypto.randomUUID` is missing on pages without TLS. */
const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

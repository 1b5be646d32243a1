/** The stream of the thread's events: opened, read, and reopened until the thread has ended. */

/** ms without data after which a connection counts as lost; the server never pauses for longer than 30 s */
const silenceMs = 70_000;

export const createStream = ({ texts }, { status, form }, session, conversation) => {
  let lastEvent = '';
  /** The open or opening stream. */
  let streaming = null;

  /** Keeps a stream of the thread's events open until the thread has ended. */
  const follow = async () => {
    if (streaming) return;
    const stopping = new AbortController();
    streaming = stopping;
    for (let failures = 0, refusals = 0; !conversation.ended && !stopping.signal.aborted; ) {
      const before = lastEvent;
      const outcome = await readEvents(stopping.signal).catch(() => 'lost');
      if (stopping.signal.aborted || conversation.ended) break;
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
      await pause(outcome === 'over' ? 500 : wait, stopping.signal);
    }
    if (streaming === stopping) streaming = null;
  };

  /** Reads one connection to its end. Returns why it ended. */
  const readEvents = async (outer) => {
    const lost = new AbortController();
    const signal = lost.signal;
    const abort = () => lost.abort();
    outer.addEventListener('abort', abort, { once: true });
    let timer = setTimeout(abort, silenceMs);
    try {
      const { token, thread_id } = await session.get();
      const answer = await session.ask('GET', `/threads/${thread_id}/events`, {
        token,
        signal,
        headers: lastEvent ? { 'last-event-id': lastEvent } : {},
      });
      if (answer.status === 401 || answer.status === 404) {
        session.forget();
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
    if (fields.event === 'message') conversation.showMessage(JSON.parse(fields.data));
    else if (fields.event === 'delta') conversation.showPart(JSON.parse(fields.data));
    else if (fields.event === 'handoff') conversation.showHandoff();
    else if (fields.event === 'ended') {
      session.forget();
      conversation.showEnd();
    }
    // Earlier messages come in one batch; later ones are new.
    if (!conversation.settled) setTimeout(conversation.settle, 300);
  };

  const stop = () => {
    streaming?.abort();
    streaming = null;
  };

  /** A new thread begins. */
  const reset = () => {
    conversation.reset();
    lastEvent = '';
  };

  return {
    get open() {
      return streaming !== null;
    },
    follow,
    stop,
    reset,
  };
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

/** Requests to the API, and the visitor's session for them. */

export const createSession = ({ script, api, memory }) => {
  let session = null;
  /** The requested session. */
  let coming = null;

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
  const get = () => {
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

  const forget = () => {
    session = null;
    memory.write({ session: null });
  };

  return { ask, get, forget };
};

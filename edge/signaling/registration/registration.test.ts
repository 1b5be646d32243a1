import { describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { challenge, ours, Scene, via } from '../../../test/kit/edge/registrar.ts';

describe('a registration', () => {
  it("requests a binding for its Contact at the registrar's domain", async () => {
    const scene = new Scene();
    scene.registration.start();
    const { message, answer } = await scene.request();
    expect(message).toMatchObject({
      method: 'REGISTER',
      uri: 'sip:pbx.example.com',
      proxy: 'sip:192.0.2.1:5061;transport=tls',
      headers: {
        To: '<sip:acme@pbx.example.com>',
        Contact: ours,
        Expires: '300',
        CSeq: '1 REGISTER',
        'User-Agent': 'Trunkline/test',
      },
    });
    expect(message.headers.From).toMatch(/^<sip:acme@pbx\.example\.com>;tag=[0-9a-f]{16}$/);
    expect(scene.registration.state.state).toBe('registering');
    answer(200, { contact: ours, expires: '120' });
    expect(scene.states).toEqual([
      {
        state: 'registered',
        expiresAt: scene.clock.now() + 120_000,
        nextTryAt: null,
        sipCode: 200,
        lastError: null,
      },
    ]);
  });

  it('answers a challenge with the strongest digest, in the same Call-ID with the next CSeq', async () => {
    const scene = new Scene();
    scene.registration.start();
    const one = await scene.request();
    one.answer(401, {
      'www-authenticate': `Digest realm="pbx", nonce="a", ${challenge('b').slice(7)}, ${challenge('b')}`,
    });
    const two = await scene.request();
    expect(two.message.headers['Call-ID']).toBe(one.message.headers['Call-ID']);
    expect(two.message.headers.From).toBe(one.message.headers.From);
    expect(two.message.headers.CSeq).toBe('2 REGISTER');
    expect(two.message.headers.Authorization).toContain('uri="sip:pbx.example.com"');
    expect(two.message.headers.Authorization).toContain('algorithm=SHA-256');
    two.answer(200);
    expect(scene.registration.state).toMatchObject({ state: 'registered', sipCode: 200 });
  });

  it('uses a new nonce at once when the old one is stale, a limited number of times', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(401, { 'www-authenticate': challenge('a') });
    (await scene.request()).answer(401, { 'www-authenticate': challenge('b', ', stale=true') });
    const { message, answer } = await scene.request();
    expect(message.headers.Authorization).toContain('nonce="b"');
    answer(401, { 'www-authenticate': challenge('c', ', stale=true') });
    await scene.nothingSent();
    expect(scene.registration.state.state).toBe('failed');
  });

  it('fails at the second challenge, says what is wrong, and pauses for long', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(407, { 'proxy-authenticate': challenge('a') });
    const { message, answer } = await scene.request();
    expect(message.headers['Proxy-Authorization']).toContain('username="acme"');
    answer(407, { 'proxy-authenticate': challenge('b') });
    expect(scene.registration.state).toEqual({
      state: 'failed',
      expiresAt: null,
      nextTryAt: scene.clock.now() + 300_000,
      sipCode: 407,
      lastError:
        'pbx.example.com:5061 rejected our user name and password; the account there must have the derived password, returned by attach and update (register_password_for_pbx) (407 Reason).',
    });
    scene.clock.advance(299_999);
    await scene.nothingSent();
    scene.clock.advance(1);
    expect((await scene.request()).message.headers.CSeq).toBe('3 REGISTER');
    expect(JSON.stringify(scene.log.lines)).not.toContain('a-derived-secret');
  });

  it('is not downgraded from SHA-256 to MD5', async () => {
    const scene = new Scene({ keepaliveMs: 0 });
    scene.registration.start();
    (await scene.request()).answer(401, { 'www-authenticate': challenge('a') });
    (await scene.request()).answer(200, { expires: '300' });
    scene.clock.advance(180_000);
    (await scene.request()).answer(401, { 'www-authenticate': 'Digest realm="pbx", nonce="b", qop="auth"' });
    expect(scene.registration.state).toMatchObject({
      state: 'failed',
      lastError:
        'pbx.example.com:5061 requires a weaker digest than before, which is not answered (401 Reason).',
    });
  });

  it.each([
    [
      '',
      'pbx.example.com:5061 requires an unsupported authentication; it must offer SIP digest with SHA-256 or MD5 (401 Reason).',
    ],
    [
      'Basic realm="pbx"',
      'pbx.example.com:5061 requires an unsupported authentication; it must offer SIP digest with SHA-256 or MD5 (401 Reason).',
    ],
  ])('cannot answer the challenge %j', async (value, lastError) => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(401, { 'www-authenticate': value });
    expect(scene.registration.state).toMatchObject({ state: 'failed', sipCode: 401, lastError });
  });

  it('uses the interval of a 423, and keeps it', async () => {
    const scene = new Scene({ keepaliveMs: 0 });
    scene.registration.start();
    (await scene.request()).answer(423, { 'min-expires': '1800' });
    const { message, answer } = await scene.request();
    expect(message.headers.Expires).toBe('1800');
    answer(200);
    expect(scene.registration.state.expiresAt).toBe(scene.clock.now() + 1_800_000);
    scene.clock.advance(1_080_000);
    expect((await scene.request()).message.headers.Expires).toBe('1800');
  });

  it('gives up when the registrar finds every interval too brief', async () => {
    const scene = new Scene();
    scene.registration.start();
    for (const minExpires of ['600', '1200', '1800'])
      (await scene.request()).answer(423, { 'min-expires': minExpires });
    await scene.nothingSent();
    expect(scene.registration.state).toMatchObject({ state: 'failed', sipCode: 423 });
  });

  it.each([
    [{ contact: `<sip:other@203.0.113.9>;expires=7200, ${ours};expires=200`, expires: '900' }, 200],
    [{ contact: `"a, b" ${ours}`, expires: '900' }, 900],
    [{ contact: '<sip:acme@10.0.0.1:9999>;expires=60' }, 60],
    [{ expires: '100' }, 100],
    [{}, 300],
  ])('reads from %j how long the binding lasts', async (headers, expiresS) => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(200, headers);
    expect(scene.registration.state.expiresAt).toBe(scene.clock.now() + expiresS * 1000);
  });

  it.each([
    [{}, 'no Contact at all'],
    [{ contact: '<sip:other@203.0.113.9>;expires=7200' }, 'only Contacts of others'],
  ])(
    'reports a doubt about a 200 with %j, and uses the interval that it requested',
    async (headers, listed) => {
      const scene = new Scene();
      scene.registration.start();
      (await scene.request()).answer(200, headers);
      expect(scene.registration.state).toEqual({
        state: 'registered',
        expiresAt: scene.clock.now() + 300_000,
        nextTryAt: null,
        sipCode: 200,
        lastError: `pbx.example.com:5061 answered 200 but lists ${listed}: it might not send us calls.`,
      });
    },
  );

  it('does not accept a 202 as a binding', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(202, { contact: `${ours};expires=300` });
    expect(scene.registration.state).toEqual({
      state: 'failed',
      expiresAt: null,
      nextTryAt: scene.clock.now() + 5_000,
      sipCode: 202,
      lastError: 'pbx.example.com:5061 answered 202 Reason: only a 200 confirms the binding.',
    });
  });

  it('does not accept a binding of zero seconds', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(200, { contact: `${ours};expires=0` });
    expect(scene.registration.state).toMatchObject({ state: 'failed', sipCode: 200 });
  });

  it.each([
    [0, 180_000],
    [0.999, 240_000],
  ])('is refreshed well before it expires (random %d)', async (random, atMs) => {
    const scene = new Scene({ random, keepaliveMs: 0 });
    await scene.registered();
    scene.clock.advance(atMs - 100);
    await scene.nothingSent();
    scene.clock.advance(100);
    const { message, answer } = await scene.request();
    expect(message.headers.CSeq).toBe('2 REGISTER');
    expect(scene.registration.state.state).toBe('registered');
    answer(200, { expires: '300' });
    expect(scene.registration.state.expiresAt).toBe(scene.clock.now() + 300_000);
  });
});

describe('the connection of a registration', () => {
  it('is checked by OPTIONS while the registrar sees us at one port', async () => {
    const scene = new Scene();
    await scene.registered();
    for (let round = 0; round < 3; round++) {
      scene.clock.advance(24_000);
      const { message, answer } = await scene.request();
      expect(message).toMatchObject({ method: 'OPTIONS', proxy: 'sip:192.0.2.1:5061;transport=tls' });
      answer(405, { via: via(40_000) });
    }
    expect(scene.states.length).toBe(1);
  });

  it.each([
    ['another port', 'The connection to pbx.example.com:5061 was lost and reopened.'],
    [
      connectionFailure('refused', 'connection refused'),
      'The connection to pbx.example.com:5061 was lost: connection refused.',
    ],
    ['timeout', 'The connection to pbx.example.com:5061 was lost: it no longer answers.'],
  ] as const)('is lost with %o, and a REGISTER is sent at once', async (what, lastError) => {
    const scene = new Scene();
    await scene.registered();
    scene.clock.advance(24_000);
    const options = await scene.request();
    if (what === 'another port') options.answer(200, { via: via(40_001) });
    else options.silence(what);
    expect(scene.registration.state).toEqual({
      state: 'registering',
      expiresAt: null,
      nextTryAt: null,
      sipCode: 200,
      lastError,
    });
    const { message, answer } = await scene.request();
    expect(message.headers.CSeq).toBe('2 REGISTER');
    answer(200, { via: via(40_001), contact: ours, expires: '300' });
    expect(scene.registration.state).toMatchObject({ state: 'registered', lastError: null });
  });

  it('is kept alive by REGISTER when the registrar does not report the port', async () => {
    const scene = new Scene();
    await scene.registered({ via: 'SIP/2.0/TLS 198.51.100.1;branch=z9hG4bK1' });
    scene.clock.advance(24_000);
    const { message, answer } = await scene.request();
    expect(message.method).toBe('REGISTER');
    answer(200);
    expect(scene.registration.state.state).toBe('registered');
    scene.clock.advance(24_000);
    (await scene.request()).silence(connectionFailure('refused', 'connection refused'));
    expect(scene.registration.state.state).toBe('failed');
  });

  it('is lost with the engine, and its late results are ignored', async () => {
    const scene = new Scene();
    await scene.registered();
    scene.clock.advance(24_000);
    const late = await scene.request();
    scene.registration.engineLost();
    expect(scene.registration.state).toMatchObject({ state: 'failed', expiresAt: null });
    late.answer(200, { via: via(40_001) });
    scene.clock.advance(600_000);
    await scene.nothingSent();
    scene.registration.start();
    (await scene.request()).answer(200);
    expect(scene.registration.state.state).toBe('registered');
  });
});

describe('the end of a registration', () => {
  it('removes the binding, with credentials when required', async () => {
    const scene = new Scene();
    await scene.registered();
    let ended = 0;
    scene.registration.end(8_000, () => ended++);
    const one = await scene.request();
    expect(one.message).toMatchObject({ method: 'REGISTER', headers: { Expires: '0', Contact: ours } });
    one.answer(401, { 'www-authenticate': challenge('a') });
    const two = await scene.request();
    expect(two.message.headers).toMatchObject({ Expires: '0', CSeq: '3 REGISTER' });
    expect(ended).toBe(0);
    two.answer(200);
    expect(ended).toBe(1);
    expect(scene.registration.state).toMatchObject({ state: 'ended', expiresAt: null });
    expect(scene.clock.pending).toBe(0);
  });

  it('waits for the answer to a pending REGISTER', async () => {
    const scene = new Scene();
    scene.registration.start();
    const register = await scene.request();
    let ended = 0;
    scene.registration.end(8_000, () => ended++);
    await scene.nothingSent();
    register.answer(200, { expires: '300' });
    const { message, answer } = await scene.request();
    expect(message.headers.Expires).toBe('0');
    answer(200);
    expect(ended).toBe(1);
    expect(scene.states.map(({ state }) => state)).toEqual(['ended']);
  });

  it('waits no longer than its limit', async () => {
    const scene = new Scene();
    await scene.registered();
    let ended = 0;
    scene.registration.end(2_000, () => ended++);
    await scene.request();
    scene.clock.advance(1_999);
    expect(ended).toBe(0);
    scene.clock.advance(1);
    expect(ended).toBe(1);
  });

  it('sends no refresh whose registrar is still being looked up', async () => {
    const scene = new Scene({ keepaliveMs: 0 });
    await scene.registered();
    scene.clock.advance(180_000);
    let ended = 0;
    scene.registration.end(8_000, () => ended++);
    const { message, answer } = await scene.request();
    expect(message.headers).toMatchObject({ Expires: '0', CSeq: '2 REGISTER' });
    answer(200);
    expect(ended).toBe(1);
    await scene.nothingSent();
  });

  it('is immediate while the registrar is looked up for the first time', async () => {
    const scene = new Scene();
    scene.registration.start();
    let ended = 0;
    scene.registration.end(8_000, () => ended++);
    expect(ended).toBe(1);
    expect(scene.clock.pending).toBe(0);
    await scene.nothingSent();
  });

  it('is immediate without a binding', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(403);
    let ended = 0;
    scene.registration.end(8_000, () => ended++);
    expect(ended).toBe(1);
    expect(scene.clock.pending).toBe(0);
    await scene.nothingSent();
  });
});

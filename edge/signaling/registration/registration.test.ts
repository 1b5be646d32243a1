import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import type { DialTarget } from '../../call/ports/dialing.ts';
import type { Outcome } from '../srf/exchange.ts';
import type { NewRequest } from '../srf/srf.ts';
import type { BindingState } from './binding-state.ts';
import { RefusalBudget } from './refusal-budget.ts';
import type { RegistrarPlaces } from './register-exchange.ts';
import { Registration, type RegistrationSettings } from './registration.ts';

const settings: RegistrationSettings = {
  perSecond: 50,
  timeoutMs: 8_000,
  keepaliveMs: 30_000,
  retryMs: 5_000,
  retryMaxMs: 600_000,
  refusedPauseMs: 300_000,
};
const registrar = {
  host: 'pbx.example.com',
  port: 5061,
  username: 'acme',
  password: 'a-derived-secret',
  expiresS: 300,
};
const target = (address: string): DialTarget => ({
  host: 'pbx.example.com',
  serverName: 'pbx.example.com',
  address,
  port: 5061,
});
const first = target('192.0.2.1');
const second = target('192.0.2.2');
const via = (rport: number) => `SIP/2.0/TLS 198.51.100.1:5061;branch=z9hG4bK1;rport=${rport}`;
const ours = '<sip:acme@198.51.100.1:5061;transport=tls>';
const challenge = (nonce: string, rest = '') =>
  `Digest realm="pbx", nonce="${nonce}", qop="auth", algorithm=SHA-256${rest}`;

/** A registration at a registrar played by the test. */
class Scene {
  readonly clock = new FakeClock();
  readonly log = new QuietLog();
  readonly states: BindingState[] = [];
  readonly requests: { readonly message: NewRequest; readonly done: (outcome: Outcome) => void }[] = [];
  places: RegistrarPlaces = { ok: true, targets: [first] };
  readonly registration: Registration;

  constructor({
    random = 0,
    setUp = false,
    ...changes
  }: Partial<RegistrationSettings> & { random?: number; setUp?: boolean } = {}) {
    this.registration = new Registration({
      environment: {
        clock: this.clock,
        random: () => random,
        publicAddress: '198.51.100.1:5061',
        software: 'Trunkline/test',
      },
      log: this.log,
      registrar,
      settings: { ...settings, ...changes },
      setUp,
      budget: new RefusalBudget(this.clock).shareOf('org'),
      exchange: (message, timeoutMs, done) => {
        const timer = this.clock.after(timeoutMs, () => done({ kind: 'silent', why: { kind: 'timeout' } }));
        this.requests.push({
          message,
          done: (outcome) => {
            timer.cancel();
            done(outcome);
          },
        });
      },
      resolve: () => Promise.resolve(this.places),
      changed: () => this.states.push(this.registration.state),
    });
  }

  /** The next request; pending DNS queries have been answered by then. */
  async request(): Promise<{
    message: NewRequest;
    answer: (status: number, headers?: Record<string, string>) => void;
    silence: (what: 'timeout' | ConnectionFailure) => void;
  }> {
    await settled();
    const next = this.requests.shift();
    if (!next) throw new Error('no request was sent');
    const { message, done } = next;
    return {
      message,
      answer: (status, headers = {}) =>
        done({ kind: 'answered', status, reason: 'Reason', headers, sent: { contact: ours } }),
      silence: (what) =>
        done({
          kind: 'silent',
          why: what === 'timeout' ? { kind: what } : { kind: 'unreachable', failure: what },
        }),
    };
  }

  async nothingSent(): Promise<void> {
    await settled();
    expect(this.requests.map(({ message }) => message.method)).toEqual([]);
  }

  /** Registers; the registrar sees us at port 40000. */
  async registered(headers: Record<string, string> = {}): Promise<void> {
    this.registration.start();
    (await this.request()).answer(200, { via: via(40_000), contact: `${ours};expires=300`, ...headers });
    expect(this.registration.state.state).toBe('registered');
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

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
        'pbx.example.com:5061 does not accept our user name and password; the account there must have the derived password, returned by attach and update (register_password_for_pbx) (407 Reason).',
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

describe('a failing registration', () => {
  it("tries the registrar's next target when one is unavailable", async () => {
    const scene = new Scene();
    scene.places = { ok: true, targets: [first, second] };
    scene.registration.start();
    (await scene.request()).silence(connectionFailure('refused', 'connection refused'));
    const { message, answer } = await scene.request();
    expect(message.proxy).toBe('sip:192.0.2.2:5061;transport=tls');
    answer(200, { via: via(1) });
    // A refresh goes to the target with the binding.
    scene.clock.advance(24_000);
    expect((await scene.request()).message.proxy).toBe('sip:192.0.2.2:5061;transport=tls');
  });

  it('increases the pause after every failure, up to a limit', async () => {
    const scene = new Scene({ retryMaxMs: 60_000 });
    scene.registration.start();
    for (const pauseMs of [5_000, 10_000, 20_000, 30_000, 30_000]) {
      (await scene.request()).silence(connectionFailure('refused', 'connection refused'));
      expect(scene.registration.state).toMatchObject({
        state: 'failed',
        sipCode: null,
        lastError:
          'Nothing listens at pbx.example.com:5061: the connection was refused; check host, port and firewall.',
        nextTryAt: scene.clock.now() + pauseMs,
      });
      scene.clock.advance(pauseMs - 1);
      await scene.nothingSent();
      scene.clock.advance(1);
    }
  });

  it('reports that a registrar does not respond', async () => {
    const scene = new Scene();
    scene.registration.start();
    await settled();
    scene.clock.advance(8_000);
    expect(scene.registration.state).toMatchObject({
      state: 'failed',
      lastError:
        'pbx.example.com:5061 did not respond to the REGISTER in time; check that a SIP registrar listens there and accepts requests from our addresses.',
    });
  });

  it('waits as long as Retry-After says', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(503, { 'retry-after': '90 (maintenance);duration=10' });
    expect(scene.registration.state).toMatchObject({ state: 'failed', sipCode: 503 });
    scene.clock.advance(89_999);
    await scene.nothingSent();
    scene.clock.advance(1);
    await scene.request();
  });

  it.each([
    [403, /^pbx\.example\.com:5061 forbids this registration; .*\(403 Reason\)\.$/],
    [404, /^pbx\.example\.com:5061 does not know this user; .*\(404 Reason\)\.$/],
    [301, /redirects are not followed/],
    [302, /redirects the registration to sip:elsewhere\.example; redirects are not followed/],
    [603, /^pbx\.example\.com:5061 rejected the registration \(603 Reason\)\.$/],
  ])('pauses for long after %d', async (status, lastError) => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(status, { contact: '<sip:elsewhere.example>' });
    expect(scene.registration.state).toMatchObject({ state: 'failed', sipCode: status });
    expect(scene.registration.state.lastError).toMatch(lastError);
    scene.clock.advance(299_999);
    await scene.nothingSent();
  });

  it('reports why the registrar has no permitted address', async () => {
    const scene = new Scene();
    scene.places = { ok: false, message: '10.0.0.1 is a private address' };
    scene.registration.start();
    await scene.nothingSent();
    expect(scene.registration.state).toMatchObject({
      state: 'failed',
      lastError: 'There is no usable address for pbx.example.com:5061: 10.0.0.1 is a private address.',
    });
    scene.places = { ok: true, targets: [first] };
    scene.clock.advance(5_000);
    await scene.request();
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

describe('a registration with a new record', () => {
  const wrong = async (scene: Scene) => {
    (await scene.request()).answer(401, { 'www-authenticate': challenge('a') });
    (await scene.request()).answer(401, { 'www-authenticate': challenge('b') });
  };

  it('is retried within seconds until the PBX knows the password', async () => {
    const scene = new Scene({ setUp: true });
    const begun = scene.clock.now();
    scene.registration.start();
    const tried: number[] = [];
    for (let failures = 0; failures < 5; failures++) {
      tried.push((scene.clock.now() - begun) / 1000);
      await wrong(scene);
      const { nextTryAt } = scene.registration.state;
      scene.clock.advance((nextTryAt ?? 0) - scene.clock.now());
    }
    expect(tried).toEqual([0, 4, 12, 24, 40]);
    (await scene.request()).answer(200, { contact: ours, expires: '300' });
    expect(scene.registration.state).toMatchObject({ state: 'registered', nextTryAt: null, lastError: null });
  });

  it('sends a wrong password fewer than ten times in any ten minutes', async () => {
    for (const random of [0, 0.999]) {
      const scene = new Scene({ setUp: true, random });
      scene.registration.start();
      const refused: number[] = [];
      while (refused.length < 40) {
        await wrong(scene);
        refused.push(scene.clock.now());
        scene.clock.advance((scene.registration.state.nextTryAt ?? 0) - scene.clock.now());
      }
      const most = Math.max(
        ...refused.map((at) => refused.filter((t) => t >= at && t < at + 600_000).length),
      );
      expect(most).toBe(9);
    }
  });

  it('is tried at once when the record changes, and frequent retries start again', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    expect(scene.registration.state.nextTryAt).toBe(scene.clock.now() + 300_000);
    scene.clock.advance(60_000);
    scene.registration.setUpAgain();
    expect(scene.registration.state).toMatchObject({ state: 'registering', nextTryAt: null });
    await wrong(scene);
    expect(scene.registration.state.nextTryAt).toBe(scene.clock.now() + 4_000);
  });

  it('is not tried more often than every five seconds, however often the record changes', async () => {
    const scene = new Scene({ random: 1 });
    const begun = scene.clock.now();
    scene.registration.start();
    const tried: number[] = [];
    for (let second = 0; second < 30; second++) {
      await settled();
      if (scene.requests.length > 0) {
        tried.push(scene.clock.now() - begun);
        await wrong(scene);
      }
      scene.registration.setUpAgain();
      scene.clock.advance(1_000);
    }
    expect(tried).toEqual([0, 5_000, 10_000, 15_000, 20_000, 25_000]);
  });

  it('waits no longer than its pause when the clock is set back an hour', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    scene.clock.jump(-3_600_000);
    scene.registration.setUpAgain();
    expect(scene.registration.state.nextTryAt).toBe(scene.clock.now() + 5_000);
    scene.registration.engineLost();
    scene.registration.start();
    scene.clock.advance(300_000);
    expect((await scene.request()).message.method).toBe('REGISTER');
  });

  it('waits its whole pause when the clock is set forward an hour', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    scene.clock.jump(3_600_000);
    scene.registration.engineLost();
    scene.registration.start();
    scene.clock.advance(299_999);
    await scene.nothingSent();
    scene.clock.advance(1);
    expect((await scene.request()).message.method).toBe('REGISTER');
  });

  it('sends nothing to a registrar that has the binding when the record changes', async () => {
    const scene = new Scene();
    await scene.registered();
    scene.registration.setUpAgain();
    await scene.nothingSent();
  });

  it('does not contact a registrar that rejected it, even when the engine was lost meanwhile', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    const before = scene.registration.state;
    for (let losses = 0; losses < 3; losses++) {
      scene.clock.advance(50_000);
      scene.registration.engineLost();
      scene.registration.start();
      await scene.nothingSent();
    }
    expect(scene.registration.state).toEqual(before);
    scene.clock.advance(150_000);
    await scene.request();
  });
});

describe('a registration with an order to try now', () => {
  it('does not wait, and reports its outcome once', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(403);
    const told: string[] = [];
    scene.registration.tryNow(() => told.push(scene.registration.state.state));
    expect(scene.registration.state).toMatchObject({ state: 'registering', nextTryAt: null });
    const { answer } = await scene.request();
    expect(told).toEqual([]);
    answer(200);
    scene.clock.advance(1_000);
    expect(told).toEqual(['registered']);
  });

  it('refreshes a binding', async () => {
    const scene = new Scene();
    await scene.registered();
    const told: string[] = [];
    scene.registration.tryNow(() => told.push(scene.registration.state.state));
    const { message, answer } = await scene.request();
    expect(message.headers.CSeq).toBe('2 REGISTER');
    answer(200, { expires: '300' });
    expect(told).toEqual(['registered']);
  });

  it('tries once more when a pending attempt that started before the order fails', async () => {
    const scene = new Scene();
    scene.registration.start();
    const early = await scene.request();
    const told: string[] = [];
    scene.registration.tryNow(() => told.push(scene.registration.state.state));
    early.answer(403);
    expect(told).toEqual([]);
    (await scene.request()).answer(404);
    expect(told).toEqual(['failed']);
    expect(scene.registration.state).toMatchObject({ sipCode: 404 });
    await scene.nothingSent();
  });

  it('notifies everyone waiting when the engine is lost or the record is removed', async () => {
    const scene = new Scene();
    await scene.registered();
    let told = 0;
    scene.registration.tryNow(() => told++);
    scene.registration.engineLost();
    expect(told).toBe(1);
    scene.registration.tryNow(() => told++);
    scene.registration.end(1_000, () => {});
    expect(told).toBe(2);
    scene.registration.tryNow(() => told++);
    expect(told).toBe(3);
  });
});

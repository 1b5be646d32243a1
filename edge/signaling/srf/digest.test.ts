import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { Authenticator } from './authenticator.ts';
import { authorization, type Challenge, parseChallenges, strongest } from './digest.ts';

const parameter = (value: string, name: string) => new RegExp(`\\b${name}="?([^",]*)`).exec(value)?.[1];

/** RFC 7616 section 3.9.1. */
const example = {
  realm: 'http-auth@example.org',
  nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
  opaque: 'FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS',
  qop: ['auth', 'auth-int'],
  stale: false,
};
const mufasa = {
  username: 'Mufasa',
  password: 'Circle of Life',
  method: 'GET',
  uri: '/dir/index.html',
  body: '',
  nonceCount: 1,
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
};

describe('a digest', () => {
  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('matches RFC 7616 section 3.9.1 with %s', (algorithm, response) => {
    const value = authorization({ ...example, algorithm }, mufasa);
    expect(parameter(value, 'response')).toBe(response);
    expect(value).toContain(
      `algorithm=${algorithm}, opaque="${example.opaque}", qop=auth, nc=00000001, cnonce="`,
    );
  });

  it('with SHA-512-256 uses the hash of FIPS 180-4, not a truncated SHA-512', () => {
    const challenge = {
      realm: 'api@example.org',
      nonce: '5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK',
      opaque: 'HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS',
      algorithm: 'SHA-512-256',
      qop: ['auth'],
      stale: false,
    };
    const value = authorization(challenge, {
      username: 'J\u00e4s\u00f8n Doe',
      password: 'Secret, or not?',
      method: 'GET',
      uri: '/doe.json',
      body: '',
      nonceCount: 1,
      cnonce: 'NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm',
    });
    expect(parameter(value, 'response')).toBe(
      '7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c',
    );
  });

  it('matches RFC 2617 section 3.5, and RFC 2069 without qop', () => {
    const challenge = {
      realm: 'testrealm@host.com',
      nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
      opaque: '5ccc069c403ebaf9f0171e9517f40e41',
      algorithm: null,
      qop: ['auth'],
      stale: false,
    };
    const request = { ...mufasa, password: 'Circle Of Life', cnonce: '0a4f113b' };
    const value = authorization(challenge, request);
    expect(parameter(value, 'response')).toBe('6629fae49393a05397450978507c4ef1');
    expect(value).not.toContain('algorithm');
    const old = authorization({ ...challenge, qop: null }, request);
    expect(parameter(old, 'response')).toBe('670fd8c2df070c60b045671b8b24ff02');
    expect(old).not.toMatch(/qop|nc=|cnonce/);
  });

  it('includes the cnonce in the secret of a -sess algorithm', () => {
    const value = authorization({ ...example, algorithm: 'SHA-256-sess' }, mufasa);
    expect(parameter(value, 'response')).toBe(
      '2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7',
    );
    expect(value).toContain('algorithm=SHA-256-sess');
  });
});

describe('challenges', () => {
  it('are parsed from lines joined by a comma', () => {
    const value =
      'Digest realm="a, \\"b\\"", nonce="n1", algorithm=SHA-256, qop="auth,auth-int", stale=TRUE,Basic realm="x", digest nonce=n2,realm="c"';
    expect(parseChallenges(value)).toEqual([
      {
        realm: 'a, \\"b\\"',
        nonce: 'n1',
        opaque: null,
        algorithm: 'SHA-256',
        qop: ['auth', 'auth-int'],
        stale: true,
      },
      { realm: 'c', nonce: 'n2', opaque: null, algorithm: null, qop: null, stale: false },
    ]);
  });

  it.each(['', 'Digest', 'Digest realm="a"', 'Digest nonce="a"', 'Basic realm="a", nonce="b"', '"', ',,='])(
    'are not found in %j',
    (value) => {
      expect(parseChallenges(value)).toEqual([]);
    },
  );

  it('keep their values as written', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9 ,;=.:/+-]{1,20}$/);
    const challenge = fc.record({ realm: word, nonce: word, opaque: fc.option(word), stale: fc.boolean() });
    fc.assert(
      fc.property(fc.array(challenge, { minLength: 1, maxLength: 4 }), (written) => {
        const lines = written.map(
          ({ realm, nonce, opaque, stale }) =>
            `Digest realm="${realm}",nonce="${nonce}"${opaque === null ? '' : `, opaque="${opaque}"`}, stale=${stale}, qop="auth"`,
        );
        expect(parseChallenges(lines.join(', '))).toEqual(
          written.map((one) => ({ ...one, algorithm: null, qop: ['auth'] })),
        );
      }),
    );
  });

  it('with arbitrary text do not hang the parser', () => {
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseChallenges(text))));
  });

  const offers = (...algorithms: (string | null)[]): Challenge[] =>
    algorithms.map((algorithm) => ({ ...example, algorithm }));

  it('are answered by the strongest supported digest, whatever their order', () => {
    expect(strongest(offers('MD5', 'SHA-256', 'SHA-512-256', 'MD5-sess'), null)?.algorithm).toBe(
      'SHA-512-256',
    );
    expect(strongest(offers(null, 'SHA-256'), null)?.algorithm).toBe('SHA-256');
    expect(strongest(offers('SHA-3', null), null)?.algorithm).toBeNull();
    expect(strongest(offers('SHA-3'), null)).toBeNull();
  });

  it('for another realm, or with an unknown protection, get no answer', () => {
    expect(strongest(offers('MD5'), 'elsewhere')).toBeNull();
    expect(strongest([{ ...example, algorithm: 'MD5', qop: ['auth-conf'] }], null)).toBeNull();
  });
});

describe('an authenticator', () => {
  const credentials = { username: 'acme', password: 'secret', realm: null };
  const challenge = (nonce: string, more = 'algorithm=SHA-256') => ({
    'proxy-authenticate': `Digest realm="r", nonce="${nonce}", qop="auth", ${more}`,
  });
  const invite = { method: 'INVITE', uri: 'sip:1@trunk.example', body: '' };
  const create = (given: typeof credentials | null = credentials) =>
    new Authenticator(given, new QuietLog(), () => 'c');

  it('answers once, and once more when the nonce was stale', () => {
    const request = create().request();
    expect(request.take(challenge('n1'), invite)).toBe(true);
    expect(parameter(request.headers['Proxy-Authorization'] ?? '', 'nc')).toBe('00000001');
    expect(request.take(challenge('n2', 'algorithm=SHA-256, stale=true'), invite)).toBe(true);
    expect(parameter(request.headers['Proxy-Authorization'] ?? '', 'nonce')).toBe('n2');
    expect(request.take(challenge('n3', 'algorithm=SHA-256, stale=true'), invite)).toBe(false);
  });

  it('treats a second challenge without stale as a rejection', () => {
    const request = create().request();
    expect(request.take(challenge('n1'), invite)).toBe(true);
    expect(request.take(challenge('n2'), invite)).toBe(false);
  });

  it('answers a proxy and the server behind it', () => {
    const request = create().request();
    expect(request.take(challenge('n1'), invite)).toBe(true);
    const server = { 'www-authenticate': 'Digest realm="s", nonce="n2"' };
    expect(create().request().take(server, invite)).toBe(true);
    expect(
      request.take({ 'www-authenticate': 'Digest realm="s", nonce="n2", algorithm=SHA-256' }, invite),
    ).toBe(true);
    expect(Object.keys(request.headers).toSorted()).toEqual(['Authorization', 'Proxy-Authorization']);
  });

  it('answers every realm of one response, each on its own line', () => {
    const request = create().request();
    const challenges = {
      'proxy-authenticate':
        'Digest realm="a", nonce="n1", Digest realm="b", nonce="n2", Digest realm="b", nonce="n3", algorithm=SHA-256',
      'www-authenticate': 'Digest realm="c", nonce="n4"',
    };
    expect(request.take(challenges, invite)).toBe(true);
    const [first = '', second = '', ...more] = (request.headers['Proxy-Authorization'] ?? '').split('\r\n');
    expect(more).toEqual([]);
    expect(parameter(first, 'nonce')).toBe('n1');
    expect(second).toMatch(/^Proxy-Authorization: Digest /);
    expect(parameter(second, 'nonce')).toBe('n3');
    expect(parameter(request.headers.Authorization ?? '', 'nonce')).toBe('n4');
  });

  it("answers the next proxy's realm in addition to the first", () => {
    const request = create().request();
    request.take(challenge('n1'), invite);
    expect(request.take({ 'proxy-authenticate': 'Digest realm="next", nonce="n2"' }, invite)).toBe(true);
    expect(
      request.headers['Proxy-Authorization']?.split('\r\n').map((line) => parameter(line, 'realm')),
    ).toEqual(['r', 'next']);
  });

  it('answers only the configured realm', () => {
    const request = new Authenticator({ ...credentials, realm: 'b' }, new QuietLog()).request();
    const value = 'Digest realm="a", nonce="n1", Digest realm="b", nonce="n2"';
    expect(request.take({ 'www-authenticate': value }, invite)).toBe(true);
    expect(request.headers.Authorization?.split('\r\n').map((line) => parameter(line, 'realm'))).toEqual([
      'b',
    ]);
  });

  it('stops with a peer that has a new realm for every attempt', () => {
    const request = create().request();
    let tries = 0;
    while (request.take({ 'www-authenticate': `Digest realm="${tries}", nonce="n"` }, invite)) tries++;
    expect(tries).toBe(8);
  });

  it('protects the body when nothing else is accepted', () => {
    const request = create().request();
    const only = { 'www-authenticate': 'Digest realm="r", nonce="n", algorithm=MD5, qop="auth-int"' };
    expect(request.take(only, { ...invite, body: 'v=0' })).toBe(true);
    const value = request.headers.Authorization ?? '';
    expect(parameter(value, 'qop')).toBe('auth-int');
    const md5 = (text: string) => createHash('md5').update(text).digest('hex');
    const ha2 = md5(`INVITE:${invite.uri}:${md5('v=0')}`);
    expect(parameter(value, 'response')).toBe(md5(`${md5('acme:r:secret')}:n:00000001:c:auth-int:${ha2}`));
  });

  it('counts the uses of a nonce across requests', () => {
    const authenticator = create();
    authenticator.request().take(challenge('n1'), invite);
    const bye = authenticator.request();
    bye.take(challenge('n1'), { ...invite, method: 'BYE' });
    expect(parameter(bye.headers['Proxy-Authorization'] ?? '', 'nc')).toBe('00000002');
  });

  it('does not downgrade to MD5 after SHA-256', () => {
    const authenticator = create();
    authenticator.request().take(challenge('n1'), invite);
    expect(authenticator.request().take(challenge('n2', 'algorithm=MD5'), { ...invite, method: 'BYE' })).toBe(
      false,
    );
  });

  it('answers nothing without credentials', () => {
    const authenticator = create(null);
    expect(authenticator.request().take(challenge('n1'), invite)).toBe(false);
    expect(authenticator.used).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { discoveryScene, domain } from '../../../test/kit/edge/discover.ts';
import { host, reply, tcpServer, tlsServer, udpServer } from '../../../test/kit/edge/discovery.ts';
import { FakeDns, srv } from '../../../test/kit/edge/trunks.ts';
import { createSelfSigned } from '../../../test/kit/fakes/certificates.ts';

const scene = discoveryScene();
const { run } = scene;

const sdp = 'v=0\r\nm=audio 4000 RTP/SAVP 8 0 101\r\na=rtpmap:101 telephone-event/8000\r\n';

describe('a system with TLS', () => {
  it('is found, recognized and recommended, with the details of its certificate', async () => {
    const port = await tlsServer(scene.certificate, (request, send) => {
      send(reply(request, '200 OK', ['Server: Asterisk PBX 20.5.2', 'Allow: INVITE, ACK, BYE'], sdp));
    });
    const result = await run({ port });
    expect(result).toMatchObject({
      status: 'completed',
      error: null,
      resolved_addresses: [host],
      srv_records: [],
      recommended: {
        port,
        transport: 'tls',
        detected_system: 'Asterisk',
        confidence: 0.95,
        evidence: ['its name is "Asterisk PBX 20.5.2"'],
        user_agent: 'Asterisk PBX 20.5.2',
        codecs: ['PCMA', 'PCMU'],
        methods: ['INVITE', 'ACK', 'BYE'],
        usable: true,
      },
      tls: {
        version: 'TLSv1.3',
        subject: `CN=${domain}`,
        issuer: 'CN=Discovery test authority',
        trusted: true,
      },
    });
    expect(result.recommended?.reason).toMatch(
      new RegExp(
        `^TLS on port ${port} answered OPTIONS with 200 in \\d+ ms, and its certificate is trusted\\.$`,
      ),
    );
    expect(Date.parse(result.tls?.valid_to ?? '')).toBeGreaterThan(Date.now());
    const [udp, tcp, tls] = result.attempts;
    expect(udp).toMatchObject({ transport: 'udp', error: 'refused', response_code: null });
    expect(tcp).toMatchObject({ transport: 'tcp', error: 'refused' });
    expect(tls).toMatchObject({ transport: 'tls', error: null, response_code: 200, address: host });
  });

  it('gets a complete request addressed to its name', async () => {
    let asked = '';
    const port = await tlsServer(scene.certificate, (request, send) => {
      asked = request;
      send(reply(request, '200 OK'));
    });
    await run({ port, transport: 'tls' });
    const branch = /branch=(z9hG4bK[0-9a-f]{24});rport/.exec(asked)?.[1];
    expect(branch).toBeDefined();
    expect(asked.split('\r\n')[0]).toBe(`OPTIONS sip:${domain}:${port};transport=tls SIP/2.0`);
    expect(asked).toMatch(/^Via: SIP\/2\.0\/TLS 127\.0\.0\.1:\d+;/m);
    expect(asked).toMatch(new RegExp(`^To: <sip:${domain}:${port}>\r$`, 'm'));
    for (const name of ['Max-Forwards', 'From', 'Call-ID', 'CSeq', 'Contact'])
      expect(asked).toContain(`\r\n${name}: `);
    expect(asked.endsWith('Content-Length: 0\r\n\r\n')).toBe(true);
  });

  it('with an untrusted certificate, or one for another name, is reported as such and not trusted', async () => {
    const answerer = (request: string, send: (text: string) => void) => send(reply(request, '200 OK'));
    const own = await tlsServer(createSelfSigned([`DNS:${domain}`]), answerer);
    const foreign = await tlsServer(scene.authority.issue({ names: ['DNS:other.example.com'] }), answerer);
    const expired = await tlsServer(
      scene.authority.issue({ names: [`DNS:${domain}`], expired: true }),
      answerer,
    );
    const results = await Promise.all([own, foreign, expired].map((port) => run({ port, transport: 'tls' })));
    const messages = results.map(({ attempts }) => attempts[0]?.message);
    expect(messages).toEqual([
      expect.stringMatching(/ is not from a trusted authority \(DEPTH_ZERO_SELF_SIGNED_CERT\); install /),
      expect.stringMatching(/ is for another host \(DNS:other\.example\.com\); it must contain /),
      expect.stringMatching(/^The certificate of sip\.example\.com:\d+ has expired; renew it\.$/),
    ]);
    for (const { tls, recommended, attempts } of results) {
      expect(tls?.trusted).toBe(false);
      expect(recommended?.reason).toContain(attempts[0]?.message);
    }
  });

  it('that only supports an old version is found, but not usable', async () => {
    const old = {
      ...scene.certificate,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL:@SECLEVEL=0',
    } as const;
    const port = await tlsServer(old, (request, send) => send(reply(request, '200 OK')));
    const { recommended, tls } = await run({ port, transport: 'tls' });
    expect(tls?.version).toBe('TLSv1.1');
    expect(recommended).toMatchObject({ transport: 'tls', usable: false });
    expect(recommended?.reason).toContain('with TLSv1.1: calls need TLS 1.2 or higher');
  });

  it('that never answers gets no recommendation, but its handshake is shown', async () => {
    const port = await tlsServer(scene.certificate, () => {});
    const { attempts, recommended, tls } = await run(
      { port, transport: 'tls' },
      { limits: { attemptMs: 1500 } },
    );
    expect(attempts[0]).toMatchObject({
      error: 'timeout',
      message: 'connected, but no response',
    });
    expect(recommended).toBeNull();
    expect(tls).toMatchObject({ subject: `CN=${domain}`, trusted: true });
  });
});

describe('a system without TLS', () => {
  it('that loses the first datagram is reached by the second, and is not usable', async () => {
    let received = 0;
    const port = await udpServer((request, send) => {
      received += 1;
      if (received > 1) send(reply(request, '404 Not Found', ['User-Agent: FreeSWITCH-mod_sofia/1.10']));
    });
    const { recommended, attempts, tls } = await run({ port, transport: 'udp' });
    expect(received).toBeGreaterThanOrEqual(2);
    expect(attempts[0]).toMatchObject({ response_code: 404, user_agent: 'FreeSWITCH-mod_sofia/1.10' });
    expect(attempts[0]?.response_time_ms).toBeGreaterThanOrEqual(490);
    expect(recommended).toMatchObject({ transport: 'udp', usable: false, detected_system: 'FreeSWITCH' });
    expect(recommended?.reason).toContain('calls go over TLS only: enable TLS');
    expect(tls).toBeNull();
  });

  it('over UDP: datagrams that are not an answer are ignored', async () => {
    const port = await udpServer((request, send) => {
      send('\0\0');
      send(reply(request, '100 Trying'));
      send(reply(request.replace(/branch=z9hG4bK/, 'branch=z9hG4bKx'), '200 Forged'));
      send(reply(request, '486 Busy Here'));
    });
    const { attempts } = await run({ port, transport: 'udp' });
    expect(attempts[0]).toMatchObject({ response_code: 486, error: null });
  });

  it('over TCP: an answer in pieces, after a request from the far end', async () => {
    const port = await tcpServer((request, send) => {
      if (!request.startsWith('OPTIONS')) return;
      const text = `OPTIONS sip:us SIP/2.0\r\nl: 0\r\n\r\n${reply(request, '100 Trying')}${reply(request, '200 OK', [], sdp)}`;
      for (const piece of text.match(/[\s\S]{1,97}/g) ?? []) send(piece);
    });
    const { recommended } = await run({ port, transport: 'tcp' });
    expect(recommended).toMatchObject({ transport: 'tcp', codecs: ['PCMA', 'PCMU'], usable: false });
  });

  it('that requires a client certificate is reported as such', async () => {
    const wish = { requestCert: true, rejectUnauthorized: true, ca: scene.authority.cert };
    const port = await tlsServer({ ...scene.certificate, ...wish }, () => {});
    const { attempts, tls } = await run({ port, transport: 'tls' });
    expect(attempts[0]).toMatchObject({
      error: 'tls_error',
      message: expect.stringContaining('requires a client certificate (mTLS);'),
    });
    expect(tls).toMatchObject({ trusted: true });
  });

  it('is distinguished from one whose TLS fails', async () => {
    const plain = await tcpServer((_request, send) => send('SIP/2.0 400 Bad Request\r\n\r\n'));
    const closing = await tcpServer((_request, _send, close) => close());
    const attempts = await Promise.all([plain, closing].map((port) => run({ port, transport: 'tls' })));
    expect(attempts.map((result) => result.attempts[0])).toMatchObject([
      { error: 'tls_error', message: expect.stringMatching(/^The server at .* does not speak TLS;/) },
      { error: 'tls_error', message: expect.stringContaining('closed it during the TLS handshake') },
    ]);
  });

  it('that closes the connection without an answer is reported as such', async () => {
    const port = await tcpServer((_request, _send, close) => close());
    const { attempts } = await run({ port, transport: 'tcp' });
    expect(attempts[0]).toMatchObject({
      error: 'refused',
      message: 'the connection was closed before a response came',
    });
  });

  it('that does not speak SIP is not mistaken for a SIP system', async () => {
    const port = await tcpServer((_request, send) => send('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const { attempts, recommended } = await run({ port, transport: 'tcp' });
    expect(attempts[0]).toMatchObject({ error: 'refused', message: 'the data received was not SIP' });
    expect(recommended).toBeNull();
  });
});

describe('of several ways', () => {
  it('TLS is recommended before TCP, although TCP answers better', async () => {
    const tls = await tlsServer(scene.certificate, (request, send) => send(reply(request, '403 Forbidden')));
    const tcp = await tcpServer((request, send) => send(reply(request, '200 OK')));
    const dns = new FakeDns({
      srv: {
        [`_sip._tcp.${domain}`]: [srv('a.example.com', tcp, 10, 5)],
        [`_sips._tcp.${domain}`]: [srv('b.example.com', tls, 10, 50)],
      },
      a: { 'a.example.com': [host], 'b.example.com': [host] },
    });
    const result = await run({}, { dns });
    expect(result.srv_records).toEqual([
      { service: '_sips._tcp', target: 'b.example.com', port: tls, priority: 10, weight: 50 },
      { service: '_sip._tcp', target: 'a.example.com', port: tcp, priority: 10, weight: 5 },
    ]);
    expect(result.resolved_addresses).toEqual([host]);
    expect(result.attempts.map(({ response_code }) => response_code)).toEqual([403, 200]);
    expect(result.attempts.map(({ transport, port }) => `${transport} ${port}`)).toEqual([
      `tls ${tls}`,
      `tcp ${tcp}`,
    ]);
    // The certificate names the domain, not the SRV target, and is trusted.
    expect(result.tls?.trusted).toBe(true);
    expect(result.recommended).toMatchObject({ port: tls, transport: 'tls', usable: true });
  });

  it('a 2xx answer is recommended before a faster rejection', async () => {
    const refusing = await tcpServer((request, send) => send(reply(request, '403 Forbidden')));
    const taking = await tcpServer((request, send) => setTimeout(() => send(reply(request, '200 OK')), 50));
    const dns = new FakeDns({
      srv: { [`_sip._tcp.${domain}`]: [srv('a.example.com', refusing, 1), srv('a.example.com', taking, 2)] },
      a: { 'a.example.com': [host] },
    });
    expect((await run({}, { dns })).recommended?.port).toBe(taking);
  });
});

it('a host that does not resolve is a DNS failure', async () => {
  const dns = new FakeDns({});
  expect(await run({}, { dns })).toMatchObject({
    status: 'failed',
    error: { code: 'DNS_FAILURE', message: `${domain} has no address` },
  });
});

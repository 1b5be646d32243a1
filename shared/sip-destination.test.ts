import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSipDestination } from '#shared/sip-destination.ts';

describe('parseSipDestination', () => {
  it.each([
    [
      'trunk.example.com',
      { host: 'trunk.example.com', normalized: 'sip:trunk.example.com:5061;transport=tls' },
    ],
    [
      'Trunk.Example.COM.',
      { host: 'trunk.example.com', normalized: 'sip:trunk.example.com:5061;transport=tls' },
    ],
    ['trunk.example.com:5070', { port: 5070, normalized: 'sip:trunk.example.com:5070;transport=tls' }],
    ['tls://trunk.example.com', { transport: 'tls', normalized: 'sip:trunk.example.com:5061;transport=tls' }],
    [
      'UDP://10.0.0.1',
      { transport: 'udp', isPrivateIp: true, normalized: 'sip:10.0.0.1:5060;transport=udp' },
    ],
    ['tcp://8.8.8.8:5080', { transport: 'tcp', port: 5080, isPrivateIp: false }],
    ['sip:+14155550100@trunk.example.com', { user: '+14155550100', host: 'trunk.example.com' }],
    [
      'sip:alice@trunk.example.com:5060;transport=TCP;lr;ob=1',
      { transport: 'tcp', normalized: 'sip:alice@trunk.example.com:5060;transport=tcp' },
    ],
    ['sips:trunk.example.com', { transport: 'tls', normalized: 'sip:trunk.example.com:5061;transport=tls' }],
    ['sips:trunk.example.com;transport=tcp', { transport: 'tls' }],
    ['[2001:4860:4860::8888]:5061', { host: '2001:4860:4860::8888', port: 5061, isPrivateIp: false }],
    ['sip:[::1]', { host: '::1', isPrivateIp: true, normalized: 'sip:[::1]:5061;transport=tls' }],
    ['[::ffff:127.0.0.1]', { isPrivateIp: true }],
    ['sip:a;b?c@host.example', { user: 'a;b?c', host: 'host.example' }],
    ['sip:100%23@host.example', { user: '100%23' }],
  ])('reads %j', (text, expected) => expect(parseSipDestination(text)).toMatchObject(expected));

  it('returns optional keys only when the text has them', () => {
    expect(parseSipDestination('trunk.example.com')).toEqual({
      host: 'trunk.example.com',
      isPrivateIp: false,
      normalized: 'sip:trunk.example.com:5061;transport=tls',
    });
  });

  it.each([
    '',
    'sip:',
    'a b.example',
    'sip:alice:secret@host.example',
    'sip:host.example?Subject=x',
    'host.example:0',
    'host.example:65536',
    'host.example:',
    'host.example:5o61',
    'http://host.example',
    'sip:host.example;transport=ws',
    'sip:host.example;transport=udp;transport=tls',
    'sips:host.example;transport=udp',
    '2001:db8::1',
    '[2001:db8::1',
    '[fe80::1%eth0]',
    '127.1',
    '300.1.1.1',
    '2130706433',
    '-host.example',
    'tls://user@host.example',
    'sip:a@b@host.example',
    'sip:%zz@host.example',
  ])('rejects %j', (text) => expect(parseSipDestination(text)).toBeNull());

  it('reads its own normal form as the same destination', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
    const host = fc.oneof(
      fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
      fc.ipV4(),
      fc.ipV6().map((address) => `[${address}]`),
    );
    const user = fc.option(fc.stringMatching(/^[A-Za-z0-9+_.-]{1,12}$/), { nil: undefined });
    const port = fc.option(fc.integer({ min: 1, max: 65535 }), { nil: undefined });
    const transport = fc.constantFrom('udp', 'tcp', 'tls');
    fc.assert(
      fc.property(host, user, port, transport, (hostText, userText, portNumber, name) => {
        const text = `sip:${userText ? `${userText}@` : ''}${hostText}${portNumber ? `:${portNumber}` : ''};transport=${name}`;
        const first = parseSipDestination(text);
        expect(first).not.toBeNull();
        const second = parseSipDestination(first?.normalized ?? '');
        expect(second).toMatchObject({ host: first?.host, transport: name, normalized: first?.normalized });
        expect(second?.user).toBe(userText);
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `sip:${text}`),
        ),
        (text) => {
          const parsed = parseSipDestination(text);
          expect(parsed === null || parsed.normalized.startsWith('sip:')).toBe(true);
        },
      ),
    );
  });
});

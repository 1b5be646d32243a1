/** Redaction by place and by value together, as for traces, on messages that a lenient parser accepts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactorOf } from '#shared/secret-values.ts';
import { redactSip } from '#shared/sip-redaction.ts';

const key = 'WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz';
const password = 'correct+horse/battery';
const response = '7587245234b3434cc3412213e5f113a5';

describe('redaction by place', () => {
  it.each(['\r\n', '\n', '\r', '\n\r', '\n\r\r', '\0', '\v', '\f', '\u2028', '\r\n\r'])(
    'removes the key from a crypto line after %j',
    (end) => {
      const message = ['v=0', `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^31`, 'a=ptime:20', ''].join(
        end,
      );
      expect(redactSip(message)).toBe(message.replace(key, 'REDACTED'));
    },
  );

  it.each([
    ['a folded crypto line', `a=crypto:1 AES_CM_128_HMAC_SHA1_80\r\n inline:${key}`],
    ['a key on a line of its own', `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\r\n\t${key}`],
    ['a crypto line that starts with a blank', `  a=crypto:1 AES_CM_128_HMAC_SHA1_80 ${key}`],
    ['a crypto line without suite', `a=crypto:1 ${key}`],
    ['text that is not an attribute', `x: inline:${key}`],
    ['key management', `a=key-mgmt:mikey ${key}`],
    ['a k line', `k=base64:${key}`],
    ['an ICE password', `a=ice-pwd:${key}`],
  ])('removes the key from %s', (_, text) => {
    expect(redactSip(`v=0\r\n${text}\r\na=ptime:20\r\n`)).not.toContain(key);
    expect(redactSip(`v=0\r\n${text}\r\na=ptime:20\r\n`)).toContain('a=ptime:20');
  });

  it.each([
    'Authorization',
    'PROXY-AUTHORIZATION',
    'X-Authorization',
    'x-Proxy-Authorization',
    'X-Auth-Token',
    'X-Api-Key',
    'Authentication-Info',
    'WWW-Authenticate',
  ])('removes digest values from %s', (name) => {
    for (const end of ['\r\n', '\n', '\r'])
      for (const colon of [':', ' :', '\t: '])
        for (const text of [`response="${response}"`, `response = ${response}`, `cnonce="${response}`]) {
          const line = `${name}${colon}Digest username="bob",${end} ${text}${end}`;
          expect(redactSip(`INVITE sip:a SIP/2.0${end}${line}To: b${end}`)).not.toContain(response);
        }
  });

  it('removes passwords and credentials from URIs', () => {
    const message = `Refer-To: <sip:bob:${password}@host?Authorization=Digest%20response%3D${response}&X=1>\r\n`;
    expect(redactSip(message)).toBe('Refer-To: <sip:bob:REDACTED@host?Authorization=REDACTED&X=1>\r\n');
  });
});

describe('redaction by value', () => {
  const bytes = Buffer.from(key, 'base64');
  it.each([
    ['as it is', key],
    ['in two lines', `${key.slice(0, 11)}\r\n ${key.slice(11)}`],
    ['between quotes and backslashes', `"${key.slice(0, 3)}\\${key.slice(3)}"`],
    ['percent-encoded', encodeURIComponent(key).replaceAll('W', '%57')],
    ['percent-encoded twice', key.replaceAll('W', '%2557')],
    ['in hexadecimal', bytes.toString('hex').toUpperCase()],
    ['as base64 of base64', Buffer.from(`xy${key}z`).toString('base64')],
    ['without padding', key.replace(/=+$/, '')],
    ['in the alphabet of URLs', bytes.toString('base64url')],
    [
      'within other octets in base64',
      Buffer.concat([Buffer.from('a'), bytes, Buffer.from('bc')]).toString('base64'),
    ],
  ])('finds a key %s', (_, text) => {
    const clean = redactorOf([key])(`before ${text} after`);
    expect(clean).toMatch(/^before .*REDACTED.* after$/);
    expect(clean.length).toBeLessThan(40);
  });

  it('finds a secret whatever is skipped in it and before it', () => {
    const blanks = fc.array(
      fc.constantFrom(' ', '\r\n\t', '"', '\\', '=', '\0', '\x85', '\u200b', '\u3000'),
      {
        maxLength: 2,
      },
    );
    const gaps = fc.array(blanks, { minLength: key.length, maxLength: key.length });
    fc.assert(
      fc.property(
        fc.string({ maxLength: 8 }),
        fc.constantFrom(key, password, response),
        gaps,
        (before, secret, all) => {
          const text = [...secret].map((one, at) => `${all[at]?.join('') ?? ''}${one}`).join('');
          expect(redactorOf([key, password, response])(`${before}:${text}.`)).toMatch(/REDACTED\.$/);
        },
      ),
    );
  });

  it('finds any secret in every spelling of its octets', () => {
    const characters = fc.constantFrom(...'abcXYZ019+/-_:;!?', 'ä', '\u20ac', '\ufb03', '😀');
    const password = fc.string({ unit: characters, minLength: 8, maxLength: 24 });
    const octets = fc.uint8Array({ minLength: 12, maxLength: 40 });
    const key = octets.map((all) => Buffer.from(all).toString('base64'));
    const keyForUrls = octets.map((all) => Buffer.from(all).toString('base64url'));
    fc.assert(
      fc.property(
        fc.oneof(password, key, keyForUrls),
        fc.uint8Array({ maxLength: 5 }),
        fc.uint8Array({ maxLength: 3 }),
        (secret, before, after) => {
          const redact = redactorOf([response, secret]);
          const forms = [Buffer.from(secret)];
          if (/^[A-Za-z0-9+/_-]{16,}=*$/.test(secret)) forms.push(Buffer.from(secret, 'base64'));
          for (const form of forms) {
            const within = Buffer.concat([before, form, after]);
            for (const text of [
              form.toString('hex'),
              form.toString('hex').toUpperCase(),
              within.toString('base64'),
              within.toString('base64url'),
            ])
              expect(redact(`X: ${text}.`)).toContain('REDACTED');
          }
          expect(redact(`X: ${secret}.`)).toMatch(/^X: REDACTED=*\.$/);
        },
      ),
    );
  });

  it.each([
    [
      'in hexadecimal after capital letters that become longer',
      password,
      '\u0130'.repeat(60),
      hexOf(password),
    ],
    ['that is hexadecimal in capital letters', response, '', response.toUpperCase()],
    ['with letters beyond ASCII, percent-encoded', 'pässwörter', '', encodeURIComponent('pässwörter')],
    [
      'that is short without skipped characters, in hexadecimal',
      'ab\x7f12\u200b\u200bcd',
      '',
      hexOf('ab\x7f12\u200b\u200bcd'),
    ],
    ['with skipped characters', 'pass\u200bword\x7f!', '', 'pass\u200bword\x7f!'],
    ['with skipped characters, percent-encoded', 'pass\u200bwörd', '', encodeURIComponent('pass\u200bwörd')],
  ])('finds a secret %s', (_, secret, before, text) => {
    expect(redactorOf([secret])(`${before}: ${text}.`)).toBe(`${before}: REDACTED.`);
  });

  it('leaves a text without secrets unchanged, and ignores short passwords', () => {
    const text = 'INVITE sip:1234@host SIP/2.0\r\n';
    expect(redactorOf(['1234', key])(text)).toBe(text);
  });
});

it('leaves no known secret in a message, in any spelling that a lenient parser undoes', () => {
  const secrets = [key, password];
  const message = [
    'INVITE sip:+14155550100@edge.example.com SIP/2.0',
    `Authorization: Digest username="bob", realm="r", nonce="${response}", response="${response}"`,
    `X-Pass: ${password}`,
    `Refer-To: <sip:bob@host?X=${password}>`,
    '',
    'v=0',
    `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^31`,
    'a=ptime:20',
    '',
  ].join('\r\n');
  const place = fc.nat({ max: message.length - 1 });
  const mutation = fc.oneof(
    fc.record({
      at: place,
      drop: fc.constant(0),
      text: fc.constantFrom('\r', '\n', '\r\n', '\n\r', '\0', '\v'),
    }),
    fc.record({
      at: place,
      drop: fc.constant(0),
      text: fc.constantFrom(' ', '\t', '\r\n ', '\n\t', '\\', '"'),
    }),
    fc.record({ at: place, drop: fc.constant(1), text: fc.constant('encode') }),
    fc.record({ at: place, drop: fc.constant(1), text: fc.constant('case') }),
  );
  const squeezed = (text: string) =>
    text
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll(/[\s\0\v"\\]/g, '');
  fc.assert(
    fc.property(
      fc.array(mutation, { maxLength: 12 }),
      fc.constantFrom('\r\n', '\n', '\r', '\n\r'),
      (all, end) => {
        let text = message;
        for (const { at, drop, text: what } of all) {
          const old = text.charAt(at);
          const flipped = old === old.toLowerCase() ? old.toUpperCase() : old.toLowerCase();
          const encoded = `%${old.charCodeAt(0).toString(16).padStart(2, '0')}`;
          // A key with changed case is another key.
          const altered =
            what === 'case' ? (secrets.some((one) => one.includes(old)) ? old : flipped) : encoded;
          text = text.slice(0, at) + (drop ? altered : what) + text.slice(at + drop);
        }
        const clean = redactorOf(secrets)(redactSip(text.replaceAll('\r\n', end)));
        for (const secret of secrets) expect(squeezed(clean)).not.toContain(secret);
      },
    ),
    { numRuns: 1_000 },
  );
});

it.each([
  ['URIs', 'sip:'],
  ['folded lines', ' a=x\r\n'],
  ['folded crypto lines', ' a=crypto:1\r\n'],
  ['endless keys', 'inline:'],
  ['parameters', 'key="\\'],
  ['blanks', 'a=  \t  '],
  ['headers', 'X-Auth\r\n'],
])('handles half a MiB of nothing but %s quickly: quadratic time would take hours', (_, piece) => {
  const message = `Authorization: Digest ${piece.repeat(524_288 / piece.length)}`;
  expect(redactorOf([key, password])(redactSip(message)).length).toBeGreaterThan(0);
});

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

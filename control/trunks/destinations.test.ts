/** parse-destination over HTTP, with URIs modeled on RFC 4475 and RFC 5118. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';

let test: TestControl;
beforeAll(async () => {
  test = await startRoutes();
});
afterAll(() => test.close());

const parse = async (input: string) => {
  const { status, body } = await test.call('POST', '/v1/sip/parse-destination', { body: { input } });
  expect(status).toBe(200);
  return body.data;
};

describe('a valid destination, however odd', () => {
  it.each([
    [
      'escapes in the user part',
      'sip:sips%3Auser%40example.com@example.net',
      'sips%3Auser%40example.com',
      'example.net',
    ],
    ['an escaped NUL', 'sip:null-%00-null@example.com', 'null-%00-null', 'example.com'],
    ['an escaped letter', 'sip:cal%6Cer@example.net', 'cal%6Cer', 'example.net'],
    [
      'parameters in the user part',
      'sip:user;par=u%40example.net@example.com',
      'user;par=u%40example.net',
      'example.com',
    ],
    [
      'a telephone number',
      'sip:+1972.555.2222;phone-context=name@example.com;user=phone',
      '+1972.555.2222;phone-context=name',
      'example.com',
    ],
    ['an unknown parameter', 'sip:user@host5.example.net;unknownparam', 'user', 'host5.example.net'],
    ['a scheme in capitals', 'SIP:user@Example.COM', 'user', 'example.com'],
    [
      'a bracketed IPv6 address whose end looks like a port',
      'sip:user@[2001:db8::10:5070]',
      'user',
      '2001:db8::10:5070',
    ],
  ])('%s', async (_what, input, user, host) => {
    const { valid, parsed } = (await parse(input)) ?? {};
    expect({ valid, user: parsed?.user, host: parsed?.host }).toEqual({ valid: true, user, host });
  });
});

describe('an invalid destination', () => {
  it.each([
    ['an IPv6 address without brackets', 'sip:2001:db8::10'],
    ['a password', "sip:weird!*pas$wo~d_too.(doesn't-it):x@example.com"],
    ['headers', 'sip:t.watson@example.org?Subject=x'],
    ['a blank inside', 'sip:user@example.com ;x'],
    ['a broken escape', 'sip:%zz@host.example'],
    ['an underscore in the host', 'sip:host_name.example'],
    ['two dots in the host', 'sip:host..example'],
    ['an unsupported transport', 'sip:user@example.com;transport=sctp'],
    ['angle brackets', '<sip:user@example.com>'],
    ['a line break', 'sip:user@example.com\r\nVia: x'],
    ['another scheme', 'tel:+14155550100'],
  ])('%s', async (_what, input) => {
    expect(await parse(input)).toEqual({ valid: false, parsed: null });
  });
});

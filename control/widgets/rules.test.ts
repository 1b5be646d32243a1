import { describe, expect, it } from 'vitest';
import { acceptConfig, clientNetwork, isAllowedOrigin, unansweredText } from './rules.ts';

describe('an origin', () => {
  it.each([
    [['https://a.example'], 'https://a.example', true],
    [['https://a.example'], 'https://A.example', false],
    [['https://a.example'], 'https://a.example:8443', false],
    [['https://a.example'], 'http://a.example', false],
    [['https://a.example'], 'https://a.example.evil.example', false],
    [['https://a.example'], undefined, false],
    [[], 'https://a.example', false],
    [['*'], 'https://any.example', true],
    [['*'], undefined, false],
  ])('with %j allowed, %s: %s', (allowedOrigins, origin, allowed) => {
    expect(isAllowedOrigin(acceptConfig({ allowedOrigins }), origin)).toBe(allowed);
  });

  it.each([
    'https://a.example/',
    'https://a.example/x',
    'a.example',
    'HTTPS://A.example',
    'ftp://a.example',
    '',
  ])('is not written as %j', (text) => {
    expect(() => acceptConfig({ allowedOrigins: [text] })).toThrow('/config/allowedOrigins/0');
  });
});

describe('the network of a client', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0:ffff::', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::198.51.100.7', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:198.51.100.7', '1:2:3:4::/64'],
    ['a socket without a name', 'a socket without a name'],
  ])('of %s is %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});

describe('what the agent is told', () => {
  const say = (number: number, content: string, sender_type: 'USER' | 'ASSISTANT' = 'USER') => ({
    number,
    content,
    sender_type,
  });

  it('is everything that was not answered, a repeated message once', () => {
    const messages = [say(1, 'a'), say(2, 'x', 'ASSISTANT'), say(3, 'b'), say(4, 'c'), say(5, 'b')];
    expect(unansweredText(messages, 2)).toBe('b\nc');
  });
});

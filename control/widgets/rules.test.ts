import { describe, expect, it } from 'vitest';
import { acceptConfig, isAllowedOrigin, unansweredText } from './rules.ts';

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
  ])('must not be written as %j', (text) => {
    expect(() => acceptConfig({ allowedOrigins: [text] })).toThrow('/config/allowedOrigins/0');
  });
});

describe("the agent's input", () => {
  const say = (number: number, content: string, sender_type: 'USER' | 'ASSISTANT' = 'USER') => ({
    number,
    content,
    sender_type,
    call_id: null,
  });

  it('is everything not yet answered, a repeated message once', () => {
    const messages = [say(1, 'a'), say(2, 'x', 'ASSISTANT'), say(3, 'b'), say(4, 'c'), say(5, 'b')];
    expect(unansweredText(messages, 2)).toBe('b\nc');
    const spoken = { ...say(6, 'd'), call_id: 'a call' };
    expect(unansweredText([...messages, spoken], 2)).toBe('b\nc');
  });
});

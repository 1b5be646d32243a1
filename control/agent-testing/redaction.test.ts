import { describe, expect, it } from 'vitest';
import { Redaction } from './redaction.ts';

const clean = (text: string) => new Redaction().text(text);

describe('the text of a call', () => {
  it.each([
    ['Call me at +1 (415) 555-0100 please', 'Call me at [phone number] please'],
    ['or 415-555-0100.', 'or [phone number].'],
    ['card 4111 1111 1111 1111', 'card [number]'],
    ['account 12345', 'account [number]'],
    ['on 2030-01-15 12345', 'on [number]'],
    ['1 2 3 4 5 a', '[number] a'],
    ['it is four one five, five five five oh one hundred', 'it is [number] hundred'],
    ['mail jane.doe+x@mail.example.com now', 'mail [email] now'],
    ['jane at example dot com', '[email]'],
    ['see https://user:pw@host.example/p?q=1 there', 'see [url] there'],
    ['see shop.example.com/cart', 'see [url]'],
    ['dial sip:100@pbx.example.com', 'dial [url]'],
    ['my key is sk-abcdef0123456789abcd', 'my key is [key]'],
    ['Bearer abcdefgh12345678', '[key]'],
    ['eyJhbGciOi.eyJzdWIi.c2ln', '[key]'],
    ['id 3f0c2f9e-3b1e-4c11-9a55-0d0f3f6f0a11', 'id [key]'],
    ['token 0123456789abcdef0123456789abcdef', 'token [key]'],
    ['I live at 221B Baker Street, apt 4', 'I live at [address]'],
    ['Hauptstraße 12', '[address]'],
    ['from 192.0.2.17:5061', 'from [address]'],
    ['to 2001:db8:0:0:1:0:0:1', 'to [address]'],
  ])('%s becomes %s', (text, expected) => {
    expect(clean(text)).toBe(expected);
  });

  it.each([
    'on 2030-01-15 at 10:30',
    'table for 4, order 1234',
    'three or four people',
    'It costs 19.90 dollars',
    'Sorry, I am just calling',
    'from 2030-01-15 10:30 to 2030-01-16',
  ])('%s stays', (text) => {
    expect(clean(text)).toBe(text);
  });
});

describe('a long text', () => {
  it.each(['a', 'a.', 'a-', '1 ', '1.a', 'one ', 'my name is A', '1 a ', ':', 'a:', 'a@'])(
    'of %j is read in linear time',
    (part) => {
      const redaction = new Redaction();
      const text = part.repeat(100_000);
      redaction.learn([text], null);
      expect(redaction.text(text).length).toBeGreaterThan(0);
    },
  );
});

describe('names', () => {
  it('are those that people give of themselves, wherever they stand', () => {
    const redaction = new Redaction();
    const lines = ['Hi, this is Ada Lovelace.', 'Thank you, ada. Is Lovelace with an o?', 'My name is grace'];
    redaction.learn(lines, null);
    expect(lines.map((line) => redaction.text(line))).toEqual([
      'Hi, this is [name].',
      'Thank you, [name]. Is [name] with an o?',
      'My name is [name]',
    ]);
  });

  it('are those that the call’s data hold, at every depth', () => {
    const redaction = new Redaction();
    redaction.learn([], { customer: [{ fullName: 'Jean-Luc Picard' }], plan: 'Gold' });
    expect(redaction.text('Jean-Luc and the Picards, Gold; PICARD')).toBe(
      '[name] and the Picards, Gold; [name]',
    );
  });

  it('are not made of words that only look like an introduction', () => {
    const redaction = new Redaction();
    redaction.learn(["I'm Calling about Monday. This is Unacceptable."], null);
    expect(redaction.text('Monday is unacceptable for calling')).toBe('Monday is unacceptable for calling');
  });
});

describe('a value', () => {
  it('is redacted at every depth, by its form and by the name of its member', () => {
    const redaction = new Redaction();
    const value = {
      plan: 'gold',
      seats: 4,
      customerName: 'Ada',
      nested: [{ deeper: { mail: 'a@b.example', apiKey: 'x', account: 123456, ok: true, none: null } }],
      shipping_address: 'Somewhere',
      '+14155550100': 'the number as a name',
    };
    expect(redaction.value(value)).toEqual({
      plan: 'gold',
      seats: 4,
      customerName: '[name]',
      nested: [{ deeper: { mail: '[email]', apiKey: '[key]', account: '[number]', ok: true, none: null } }],
      shipping_address: '[address]',
      '[phone number]': 'the number as a name',
    });
  });

  it('leaves a list of what was taken out, without showing it again', () => {
    const redaction = new Redaction();
    redaction.text('a@b.example, a@b.example and 12345');
    expect(redaction.removed()).toEqual([
      { kind: 'email', placeholder: '[email]', hint: 'a…e', count: 2 },
      { kind: 'number', placeholder: '[number]', hint: '1…5', count: 1 },
    ]);
  });
});

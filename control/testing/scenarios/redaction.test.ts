import { describe, expect, it } from 'vitest';
import { Redaction } from './redaction.ts';
import { namesSaid } from './redaction-names.ts';

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
    ['call ４１５５５５０１００', 'call [number]'],
    ['call ٤١٥٥٥٥٠١٠٠', 'call [number]'],
    ['call 41\u200b55\u200b55\u200b01\u200b00', 'call [number]'],
    ['(415) 555 / 0100', '([number]'],
    ['415 dash 555 dash 0100', '[number]'],
    ['four, one, five... five five five... oh one two three', '[number]'],
    ['born on 03/14/1985', 'born on [number]'],
    ['my date of birth is March 14, 1985', 'my date of birth is [number]'],
    ['my pin is 4321 and the cvv is 987', 'my pin is [key] and the cvv is [key]'],
    ['the last four are 6789.', 'the last four are [key].'],
    ['password is hunter2!', 'password is [key]'],
    ['the code is A1B2-C3D4', 'the code is [key]'],
    ['license plate 7ABC123, passport X12345678', 'license plate [number], passport [number]'],
    ['booking QX7T42-9', 'booking [number]'],
    ['sam dot reed at gmail dot com', '[email]'],
    ['sam.reed (at) example.com', '[email]'],
    ['sam@example', '[email]'],
    ['visit example.museum/abc?token=zz', 'visit [url]'],
    ['и пример.рф/секрет', 'и [url]'],
    ['P.O. Box 1234', '[address]'],
    ['I live at 12 Elm, apartment 4B', 'I live at [address]'],
    ['zip code 941', 'zip code [address]'],
  ])('%s becomes %s', (text, expected) => {
    expect(clean(text)).toBe(expected);
  });

  it.each([
    'on 2030-01-15 at 10:30',
    'table for 4, order 1234',
    'Order 4711 is on its way.',
    '2 people in the first place',
    'three or four people',
    'It costs 19.90 dollars',
    'Sorry, I am just calling',
    'from 2030-01-15 10:30 to 2030-01-16',
    'Meet me at noon. Then the code is not working, and my password is wrong',
    'born in Springfield at 8 am, 2 children',
    'a 24-hour deal for 100 dollars at 10:30am',
  ])('%s is kept', (text) => {
    expect(clean(text)).toBe(text);
  });
});

describe('a long text', () => {
  const parts = [
    'a',
    'a.',
    'a-',
    '1 ',
    '1.a',
    'one ',
    'my name is A',
    '1 a ',
    ':',
    'a:',
    'a@',
    'a dot ',
    'pin is ',
  ];
  it.each(parts)('of %j is read in linear time', async (part) => {
    const redaction = new Redaction();
    const text = part.repeat(100_000);
    redaction.learn(await namesSaid([{ role: 'user', content: text }]), null);
    expect(redaction.text(text).length).toBeGreaterThan(0);
  });
});

describe('names', () => {
  const redacted = async (...said: readonly string[]) => {
    const lines = said.map((line) => {
      const [, role = '', content = ''] = /^(agent|caller): (.*)$/.exec(line) ?? [];
      return { role: role === 'agent' ? ('assistant' as const) : ('user' as const), content };
    });
    const redaction = new Redaction();
    redaction.learn(await namesSaid(lines), null);
    return lines.map(({ content }) => redaction.text(content));
  };

  it('are those that people introduce themselves with, anywhere', async () => {
    expect(
      await redacted(
        'caller: Hi, this is Ada Lovelace.',
        'agent: Thank you, ada. Is Lovelace with an o?',
        'caller: My name is grace',
      ),
    ).toEqual(['Hi, this is [name].', 'Thank you, [name]. Is [name] with an o?', 'My name is [name]']);
  });

  it.each([
    ['I am Sam. SAM said so, sam’s mother too.', 'I am [name]. [name] said so, [name]’s mother too.'],
    ['hi my name is maria gonzalez and i need help', 'hi my name is [name] and i need help'],
    ['my name is priya raghunathan from boston', 'my name is [name] from boston'],
    ['this is peter calling', 'this is [name] calling'],
    ['Hi, Susan Miller here.', 'Hi, [name] here.'],
    ['My wife Angela and my son Tom live at home.', 'My wife [name] and my son [name] live at home.'],
    ['I spoke to Brenda yesterday.', 'I spoke to [name] yesterday.'],
    ['Call me Al.', 'Call me [name].'],
    ['Name: Katarzyna Wiśniewska', 'Name: [name]'],
    ['I am John O’Brien.', 'I am [name].'],
    ['Mein Name ist Jürgen Müller', 'Mein Name ist [name]'],
    ['My name is 张伟', 'My name is [name]'],
    ['Ask for Mr. Okonkwo-Smith.', 'Ask for Mr. [name].'],
    ['My name is Will Grace. I think it will do.', 'My name is [name]. I think it will do.'],
  ])('%s becomes %s', async (text, expected) => {
    expect(await redacted(`caller: ${text}`)).toEqual([expected]);
  });

  it('are answers to a question for the name', async () => {
    expect(
      await redacted('agent: May I have your name?', 'caller: priya raghunathan', 'agent: Thanks, Priya!'),
    ).toEqual(['May I have your name?', '[name]', 'Thanks, [name]!']);
    const other = await redacted(
      'agent: What is your name?',
      'caller: Why do you need that? I only ask when you open',
    );
    expect(other[1]).toBe('Why do you need that? I only ask when you open');
  });

  it('are those in the call’s data, at every depth', () => {
    const redaction = new Redaction();
    redaction.learn([], { customer: [{ fullName: 'Jean-Luc Picard' }], plan: 'Gold' });
    expect(redaction.text('Jean-Luc and the Picards, Gold; PICARD')).toBe(
      '[name] and the Picards, Gold; [name]',
    );
  });

  it('are not words that only look like an introduction', async () => {
    const said = [
      "caller: I'm Calling about Monday. This is Unacceptable.",
      'caller: Monday is unacceptable for calling',
    ];
    expect((await redacted(...said))[1]).toBe('Monday is unacceptable for calling');
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

  it('leaves a list of what was redacted, without showing it again', () => {
    const redaction = new Redaction();
    redaction.text('a@b.example, a@b.example and 12345');
    expect(redaction.removed()).toEqual([
      { kind: 'email', placeholder: '[email]', hint: 'a…e', count: 2 },
      { kind: 'number', placeholder: '[number]', hint: '1…5', count: 1 },
    ]);
  });

  it('shows nothing of a short secret', () => {
    const redaction = new Redaction();
    redaction.text('pin 4321');
    expect(redaction.removed()).toEqual([{ kind: 'key', placeholder: '[key]', hint: '…', count: 1 }]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Option, VariableWanted } from '#shared/agent/interfaces.ts';
import { ruleEngine } from './rule-engine.ts';
import { stem, stems, yesOrNo } from './words.ts';

const situation = { node: { id: 'n', name: 'N' }, history: [], variables: {} };
const way = (label: string, description = '', global = false): Option => ({
  label,
  description,
  target: 't',
  global,
});

describe('choosing an edge by words', () => {
  const ways = [
    way('User wants to cancel an appointment', 'cancellation, no longer coming'),
    way('Book a new appointment', 'schedule a visit'),
    way('yes'),
    way('Speak to a human', 'operator, representative', true),
  ];
  const choose = (text: string, options = ways, otherwise = false) =>
    ruleEngine.chooseEdge({ ...situation, text, options, otherwise });

  it.each([
    ["I'd like to cancel", 0],
    ['I am cancelling my appointments', 0],
    ['can I schedule something', 1],
    ['booking please', 1],
    ['yeah, sure', 2],
    ['give me a representative', 3],
    ['appointment', 0],
    ['what is the weather', null],
    ['...', null],
  ])('"%s" is option %s', async (text, choice) => {
    expect((await choose(text)).choice).toBe(choice);
  });

  it('takes the only option, but not when another one covers other input', async () => {
    expect((await choose('whatever', [way('agrees')])).choice).toBe(0);
    expect((await choose('whatever', [way('agrees')], true)).choice).toBeNull();
    expect((await choose('whatever', [way('a human', '', true)])).choice).toBeNull();
    expect((await choose('whatever', [])).choice).toBeNull();
  });

  it('gives the same answer to the same question, always one of the options', async () => {
    const texts = fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.string(), texts, async (text, labels) => {
        const options = labels.map((label) => way(label));
        const first = await choose(text, options);
        expect(await choose(text, options)).toEqual(first);
        expect(first.choice === null || first.choice in options).toBe(true);
      }),
    );
  });
});

describe('extracting', () => {
  const extract = async (text: string, ...wanted: [string, VariableWanted['type'], string?][]) =>
    ruleEngine.extract({
      ...situation,
      text,
      wanted: wanted.map(([name, type, description = '']) => ({ name, type, description })),
    });

  it.each<[string, VariableWanted['type'], string, unknown]>([
    ['it is 42', 'integer', '', 42],
    ['about 1,250.50 euros', 'number', '', 1250.5],
    ['one thousand is too hard, three is not', 'integer', '', 1],
    ['2.5', 'integer', '', undefined],
    ['nothing', 'integer', '', undefined],
    ['yes of course', 'boolean', '', true],
    ["no, I don't", 'boolean', '', false],
    ['yes and no', 'boolean', '', undefined],
    ['on 2026-03-01 please', 'date', '', '2026-03-01'],
    ['3/1/2026', 'date', '', '2026-03-01'],
    ['March 1st, 2026', 'date', '', '2026-03-01'],
    ['the 1st of March 2026', 'date', '', '2026-03-01'],
    ['February 30 2026', 'date', '', undefined],
    ['my name is Ann Lee and I am late', 'string', 'full name', 'Ann Lee'],
    ['Ann Lee', 'string', 'full name', 'Ann Lee'],
    ['mail ann@example.com', 'string', 'email', 'ann@example.com'],
    ['call (415) 555-0101', 'string', 'phone number', '4155550101'],
    ['  the blue one ', 'string', 'which', 'the blue one'],
    ['You are booked, my account number is 4711.', 'string', 'account number', '4711'],
    ['four seven one one', 'string', 'customer number', '4711'],
    ['it is AB-12, thanks', 'string', 'order code', 'AB-12'],
    ['4711 0815', 'string', 'account number', '47110815'],
    ['I do not have it with me', 'string', 'account number', undefined],
  ])('"%s" as %s %s is %s', async (text, type, description, value) => {
    expect(await extract(text, ['v', type, description])).toEqual(value === undefined ? {} : { v: value });
  });

  it("takes what follows the variable's name, not the whole sentence", async () => {
    const text = 'I told you already, my favourite colour is dark blue, and hurry up.';
    expect(await extract(text, ['favourite_colour', 'string'])).toEqual({ favourite_colour: 'dark blue' });
    expect(await extract('You are booked, my account number is 4711.', ['account_number', 'string'])).toEqual(
      {
        account_number: '4711',
      },
    );
  });

  it('takes a whole sentence only when a single text is wanted', async () => {
    expect(await extract('blue, 3', ['colour', 'string'], ['size', 'string'], ['count', 'integer'])).toEqual({
      count: 3,
    });
  });
});

describe('a whole sentence as the value of one of several texts', () => {
  const wanted = ['caller_name', 'city'].map((name) => ({ name, type: 'string' as const, description: '' }));
  const extract = (text: string, variables: Record<string, unknown>) =>
    ruleEngine.extract({ ...situation, variables, text, wanted });

  it('is taken for the only one that is not known yet', async () => {
    expect(await extract('Austin', { caller_name: 'Sam Reed' })).toEqual({ city: 'Austin' });
    expect(await extract('Austin', {})).toEqual({});
    expect(await extract('Austin', { caller_name: 'Sam Reed', city: 'Denver' })).toEqual({});
  });

  it('is not taken when it names another one', async () => {
    const text = 'My caller name is Sam Peters';
    expect(await extract(text, { caller_name: 'Sam Reed' })).toEqual({ caller_name: 'Sam Peters' });
  });
});

describe('speech from a prompt', () => {
  const generate = (prompt: string, knowledge: string | null = null, asked?: string) =>
    ruleEngine.generate({
      ...situation,
      history: asked === undefined ? [] : [{ role: 'user', text: asked }],
      prompt,
      globalPrompt: '',
      knowledge,
      temperature: null,
    });

  it('is the longest quoted sentence, else the prompt, with a note that there is no model', async () => {
    expect(await generate('Greet with "Hello there, how can I help?" or "Hi you". Be "nice".')).toEqual({
      text: 'Hello there, how can I help?',
      note: 'no language model is configured: the sentence quoted in the prompt is spoken',
    });
    expect(await generate('Ask for the name.')).toEqual({
      text: 'Ask for the name.',
      note: 'no language model is configured: the prompt itself is spoken',
    });
  });

  it('answers from knowledge, or says that it cannot', async () => {
    const kb = 'Opening hours: 9 to 5.\nParking is free.';
    expect((await generate('', kb, 'is there parking?')).text).toBe('Parking is free.');
    expect((await generate('', kb, 'who are you?')).text).toBe('I have no answer to that.');
  });
});

describe('conditions', () => {
  const holds = async (condition: string, variables: Record<string, unknown>, names: string[] = []) =>
    (
      await ruleEngine.conditionHolds({
        ...situation,
        variables,
        condition,
        wanted: names.map((name) => ({ name, type: 'string' as const, description: '' })),
      })
    ).holds;

  it('compare a variable, else require every variable of the node', async () => {
    expect(await holds('age >= 18', { age: 18 })).toBe(true);
    expect(await holds('age >= 18', { age: 9 })).toBe(false);
    expect(await holds('plan == "gold"', { plan: 'gold' })).toBe(true);
    expect(await holds('The caller gave a name', {}, ['name'])).toBe(false);
    expect(await holds('The caller gave a name', { name: 'Ann' }, ['name'])).toBe(true);
  });

  it.each<[string, Record<string, unknown>, boolean]>([
    // Of a variable that nothing fills nothing holds, even when the node's own are known.
    ['plan == "gold"', {}, false],
    ['plan != "gold"', {}, false],
    ['plan not contains gold', {}, false],
    ['{{plan}} == "gold"', {}, false],
    ['{{plan}} == "gold"', { plan: 'gold' }, true],
    ['{{plan}} == "gold"', { plan: 'silver' }, false],
    ['plan == "gold" and age >= 18', { plan: 'gold' }, false],
    ['plan == "gold" and age >= 18', { plan: 'gold', age: 17 }, false],
    ['plan == "gold" and age >= 18', { plan: 'gold', age: 18 }, true],
    ['plan == "gold" or age >= 18', { age: 18 }, true],
    ['plan == gold or silver', { plan: 'silver' }, true],
    ['plan == gold or silver', { plan: 'bronze' }, false],
    ["plan == 'this and that' && age > 1", { plan: 'this and that', age: 2 }, true],
    ['order.total > 10', { order: { total: 11 } }, true],
    ['order.total > 10', { order: {} }, false],
    ['account_number is known', {}, false],
    ['account_number is known', { account_number: '4711' }, true],
    ['account_number is not known', {}, true],
    ['plan != ""', { plan: 'gold' }, true],
    ['plan == ""', {}, true],
    ['The caller has confirmed account_number', {}, false],
    ['The caller wants {{plan}}', {}, false],
    ['The order is confirmed', {}, true],
  ])('%j with %j: %j', async (condition, variables, expected) => {
    expect(await holds(condition, { name: 'Ann', ...variables }, ['name'])).toBe(expected);
  });
});

describe('words', () => {
  it('are compared by stem', () => {
    expect(stem('cancelled')).toBe(stem('cancel'));
    expect(stem('cancellation')).toBe(stem('cancelling'));
    expect(stem('bookings')).toBe(stem('book'));
    expect(stem('companies')).toBe(stem('company'));
    expect(stem('invoices')).toBe(stem('invoice'));
    expect(stems("I'd like the, the Refund!")).toEqual(['refund']);
  });

  it.each([
    ['Yes', true],
    ['nope', false],
    ['not really', false],
    ['maybe', null],
    ['', null],
  ])('"%s" means %s', (text, meaning) => {
    expect(yesOrNo(text)).toBe(meaning);
  });
});

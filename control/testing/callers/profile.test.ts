import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chance } from '#shared/chance.ts';
import { factsFor, factsIn } from './facts.ts';
import { hear } from './hearing.ts';
import type { CallerBrief } from './ports.ts';
import { callerProfile } from './profile.ts';

const brief = (tester_persona_prompt: string, more: Partial<CallerBrief> = {}): CallerBrief => ({
  category: 'CUSTOM',
  tester_persona_prompt,
  tester_persona_name: null,
  advanced_instructions: null,
  input_messages: null,
  metadata: null,
  ...more,
});
const values = (text: string, given = {}) =>
  Object.fromEntries(factsIn(text, given).map(({ key, value }) => [key, value]));

describe('the facts of a persona', () => {
  it('come from lines with a name and a value, and from sentences', () => {
    const text = [
      '- date of birth: 4 May 1980',
      '* Account number: 12345',
      'Your street is 7 Elm St. and your company is Acme Ltd.',
    ].join('\n');
    expect(values(text)).toMatchObject({
      'date of birth': '4 May 1980',
      'account number': '12345',
      company: 'Acme Ltd',
    });
  });

  it('include an address, a number, a day and a place mentioned in passing', () => {
    const text =
      'You can be reached at pat@example.com or +1 415 555 0100, and live in Austin. Come on May 4, 2030.';
    expect(values(text)).toMatchObject({
      email: 'pat@example.com',
      'phone number': '+1 415 555 0100',
      date: 'May 4, 2030',
      city: expect.stringContaining('Austin'),
    });
  });

  it('are first those given by name in the scenario', () => {
    expect(values('- day: Monday', { day: 'Friday', party_size: 4, other: {} })).toEqual({
      day: 'Friday',
      'party size': '4',
    });
  });

  it('exclude instructions', () => {
    expect(values('First say: hello\nGoal: book a table\nMood: bad\nPatience: low')).toEqual({});
  });

  it('answer the questions that ask for them', () => {
    const facts = factsIn(
      '- name: Sam\n- date of birth: 4 May 1980\n- date: May 4, 2030\n- phone: 555 0100 22',
    );
    const asked = (question: string) => factsFor(question, facts).map(({ key }) => key);
    expect(asked('What is your name?')).toEqual(['name']);
    expect(asked('Who am I speaking with?')).toEqual(['name']);
    expect(asked('When were you born?')[0]).toBe('date of birth');
    expect(asked('Which date suits you?')[0]).toMatch(/^date/);
    expect(asked('Your name and a callback number, please?')).toEqual(['phone', 'name']);
    expect(asked('Do you like tea?')).toEqual([]);
  });

  it('can be extracted from any text without an error', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const profile = callerProfile(brief(text));
        expect(profile.goal.length).toBeGreaterThan(0);
        hear([text]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a persona', () => {
  it.each([
    ['You want to book an appointment but rarely get to the point.', 'I would like to book an appointment.'],
    ['Goal: cancel your order', 'I want to cancel my order.'],
    ['You are calling about a late parcel. Be brief.', 'I am calling about a late parcel.'],
    ['You need a plumber today.', 'I need a plumber today.'],
    ['You are Jo Hill. You lost your card on the bus.', 'I lost my card on the bus.'],
    ['You had a crash and you are upset. Be brief.', 'I had a crash and I am upset.'],
    ['You had a crash. You want a tow truck.', 'I would like a tow truck.'],
    ['Speak softly.', 'I have a question and I need some help.'],
  ])('instructed "%s" says "%s"', (text, goal) => {
    expect(callerProfile(brief(text)).goal).toBe(goal);
  });

  it.each([
    ['You are Morgan, the assistant of a director.', null, 'Morgan'],
    ['Your name is Ann Lee. You want tea.', null, 'Ann Lee'],
    ['You are a caller.', 'Robin', 'Robin'],
    ['You are a caller.', 'Screening service', null],
    ['- name: Pat Miller', 'Robin', 'Pat Miller'],
  ])('instructed "%s", with the name %s, is %s', (text, tester_persona_name, name) => {
    expect(callerProfile(brief(text, { tester_persona_name })).name).toBe(name);
  });
});

describe('what a caller hears', () => {
  it.each([
    [
      'Press 1 for sales, or press two for billing.',
      [
        ['1', 'sales'],
        ['2', 'billing'],
      ],
    ],
    [
      'For sales, press 1. For an operator, press 0.',
      [
        ['1', 'sales'],
        ['0', 'an operator'],
      ],
    ],
  ])('is a menu in "%s"', (text, menu) => {
    expect(hear([text]).menu.map(({ keys, label }) => [keys, label])).toEqual(menu);
  });

  it.each([
    ['How can I help you today?', 'opensFloor', true],
    ['Is that correct?', 'yesOrNo', true],
    ['What is your name?', 'yesOrNo', false],
    ['Your table is booked.', 'done', true],
    ['Is there anything else?', 'done', true],
    ['Which table is free?', 'done', false],
    ['Thank you for calling, goodbye.', 'goodbye', true],
    ['I am so sorry about that.', 'acknowledges', true],
    ['Please calm down.', 'dismisses', true],
  ] as const)('of "%s" %s is %s', (text, what, expected) => {
    expect(hear([text])[what]).toBe(expected);
  });
});

describe('seeded chance', () => {
  it('gives the same with the same seed, and keeps all items when shuffling', () => {
    const draw = (seed: number) => Array.from({ length: 5 }, chance(seed).next);
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.integer()), (seed, list) => {
        expect(chance(seed).shuffled(list).toSorted()).toEqual(list.toSorted());
      }),
    );
    expect(draw(3).every((value) => value >= 0 && value < 1)).toBe(true);
  });
});

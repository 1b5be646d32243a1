import { describe, expect, it } from 'vitest';
import { personAsked } from './asked.ts';
import { contradicts } from './compare.ts';
import { factsIn } from './facts.ts';
import { hear } from './hearing.ts';

const prompt = [
  'You are Nina Ford. You want to report damage to your parcel.',
  '- tracking number: SP4402',
  '- last four digits of the card: 9921',
  '- number of people: 5',
].join('\n');

describe('what an agent gets wrong', () => {
  it.each([
    ['I have SP4420. Correct?', 'SP4402'],
    ['I have SP-4402. Correct?', undefined],
    ['Your card ends in 9912, right?', '9921'],
    ['Your card ends in 9921, right?', undefined],
    ['Your parcel has 12345678, right?', undefined],
    ['Is it for two people?', '5'],
    ['Is it for 5 people?', undefined],
    ['Is it for more than two people?', undefined],
  ])('"%s" is %s', (question, value) => {
    expect(contradicts(question, factsIn(prompt))?.value).toBe(value);
  });

  it.each([
    ['Is this Mr. Green?', 'other'],
    ['Is this Ms. Ford?', 'self'],
    ['Is this a good time?', null],
  ])('"%s" asks for %s', (text, who) => {
    expect(personAsked(text, 'Nina Ford')).toBe(who);
  });

  it('is asked why it calls', () => {
    expect(hear(['Why are you calling?']).opensFloor).toBe(true);
    expect(hear(['Why are you calling me stupid?']).opensFloor).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { greetings, people, screening } from '../../../test/kit/agent/answers.ts';
import { asksWhoCalls } from './screening.ts';

describe('a call-screening assistant', () => {
  it.each(screening)('is recognized by %j', (text) => {
    expect(asksWhoCalls(text)).toBe(true);
  });

  it.each([
    "Hi. Please tell me your name and why you're calling.",
    'Before I try to connect you, can I ask the reason for your call?',
    'The person you are calling has their calls screened by an assistant.',
  ])('is recognized by %j, too', (text) => {
    expect(asksWhoCalls(text)).toBe(true);
  });

  it.each([
    ...people,
    ...greetings,
    'Please leave your name and the reason for your call after the tone.',
    'Who is this?',
    'You want to know my name? It is Jonathan.',
    'Is he available? I will see.',
    'The screen of my phone is broken.',
  ])('is not %j', (text) => {
    expect(asksWhoCalls(text)).toBe(false);
  });
});

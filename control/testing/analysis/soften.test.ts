import { describe, expect, it } from 'vitest';
import { softenedPrompt, softenedSpeech } from './soften.ts';

const wanted = { unwanted: [], acknowledge: false };

describe('words made courteous', () => {
  it.each([
    ['You idiot. What is your name?', 'What is your name?'],
    ['You idiot, this call is recorded. What is your name?', 'This call is recorded. What is your name?'],
    ['This call is recorded, stupid. What is your name?', 'This call is recorded. What is your name?'],
    ['That is too bad, there is a fee of {{fee}}.', 'There is a fee of {{fee}}.'],
    ['Deal with it, I am busy. What is your name?', 'What is your name?'],
  ])('keep what callers have to be told: %s', (text, kept) => {
    expect(softenedSpeech(text, wanted)).toBe(
      `I am sorry about that, and I understand how you feel. ${kept}`,
    );
  });

  it.each([
    'You stupid people must verify your identity. Go on.',
    'It is your fault that the fee is 20 dollars.',
  ])('are left to a person where both are one: %s', (text) => {
    expect(softenedSpeech(text, wanted)).toBe(text);
  });

  it('keep it in an instruction, too', () => {
    const prompt = softenedPrompt(
      'Tell them to shut up, and say that calls are recorded. Ask for the name.',
      wanted,
    );
    expect(prompt).toContain('Say that calls are recorded. Ask for the name.');
    expect(prompt).not.toContain('shut up');
  });
});

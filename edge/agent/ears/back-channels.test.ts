import { expect, it } from 'vitest';
import { isBackChannel, takesTurn } from './back-channels.ts';

it.each([
  'Mhm.',
  'uh-huh',
  'Mm-hmm',
  'Yeah, yeah.',
  'Okay, got it.',
  'I see.',
  'Right, that’s right',
  'Hmm…',
])('%j shows that somebody listens', (words) =>
  expect([isBackChannel(words), takesTurn(words)]).toEqual([true, false]),
);

it.each([
  'Stop',
  'No.',
  'Wait, wait',
  'Yeah, but I asked for Tuesday',
  'What?',
  'Okay stop',
  'Ja bitte',
  '四',
])('%j takes the turn', (words) => expect([isBackChannel(words), takesTurn(words)]).toEqual([false, true]));

it('takes no turn without words', () => {
  expect(['', ' ', '...'].map(takesTurn)).toEqual([false, false, false]);
});

it.each(['I', 'Okay, got', 'Makes'])(
  '%j may become what shows that somebody listens, and takes the turn only when something else follows',
  (words) => {
    expect([isBackChannel(words), takesTurn(words)]).toEqual([false, false]);
    expect([takesTurn(`${words} a question`), takesTurn(`${words}, stop`)]).toEqual([true, true]);
  },
);

it('judges the words after a phrase', () => {
  expect([takesTurn('I see, I'), takesTurn('I see, I want more'), takesTurn('I stop')]).toEqual([
    false,
    true,
    true,
  ]);
});

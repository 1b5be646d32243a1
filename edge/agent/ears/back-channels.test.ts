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

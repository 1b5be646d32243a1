import { expect, test } from 'vitest';
import { replayCaller } from './replay-caller.ts';

test('a replay says, presses and is silent as its transcript has it', async () => {
  const contents = ['Hello.', 'Pressed 12#', '(silence)', 'I pressed 1.', 'Pressed 0'];
  const caller = replayCaller({
    category: 'CUSTOM',
    tester_persona_prompt: null,
    tester_persona_name: null,
    advanced_instructions: null,
    metadata: null,
    input_messages: contents.map((content) => ({ role: 'user', content })),
  });
  const view = { history: [], heard: [], movesLeft: 9 };
  const moves = [];
  for (const _ of contents) moves.push(await caller.next(view, new AbortController().signal));
  expect(moves).toEqual([
    { type: 'say', text: 'Hello.' },
    { type: 'keys', keys: '12#' },
    { type: 'silence' },
    { type: 'say', text: 'I pressed 1.' },
    { type: 'keys', keys: '0', leaves: 'All recorded lines were said.' },
  ]);
});

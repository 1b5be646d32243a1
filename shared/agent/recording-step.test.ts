import { expect, it } from 'vitest';
import { ended, graphOf, keys, run, talk } from '../../test/kit/agent/conversations.ts';

it('pauses the recording before a node asks for a card number, and resumes it in the next one', async () => {
  const conversation = talk(
    [
      ['ask', 'Default', { text: 'Your card number?', recording: 'pause', dtmf: { maxDigits: 4 } }],
      ['thanks', 'End Call', { text: 'Thank you.', recording: 'resume' }],
    ],
    [['ask', 'thanks', 'User entered a number']],
  );
  expect(await run(conversation, keys('4242'))).toEqual([
    ['pause the recording', 'say Your card number?', 'listen at ask'],
    ['resume the recording', 'say Thank you.', ended],
  ]);
});

it('rejects any other value, and takes null for none', () => {
  const graph = (recording: unknown) => graphOf([['a', 'Default', { text: 'Hello', recording }]], []);
  expect(() => graph('stop')).toThrow('recording is one of: pause, resume');
  expect(graph(null).start.recording).toBeNull();
});

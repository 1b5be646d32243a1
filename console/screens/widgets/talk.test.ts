import { describe, expect, it } from 'vitest';
import { silent, type TalkState, talkAfter } from './talk.ts';

const event = (type: string, data: unknown) => ({ type, data: JSON.stringify(data) });
const message = (id: string, content: string) =>
  event('message', { id, sender_type: 'ASSISTANT', content, original_content: null });
const play = (...events: { type: string; data: string }[]): TalkState => events.reduce(talkAfter, silent);

describe('a thread in the inbox', () => {
  it('shows an answer while it is written, and its message in its place', () => {
    const writing = play(
      event('delta', { id: 'a', text: 'We are ' }),
      event('delta', { id: 'a', text: 'open' }),
    );
    expect(writing.draft).toEqual({ id: 'a', text: 'We are open' });
    const written = talkAfter(writing, message('a', 'We are open.'));
    expect(written.draft).toBeNull();
    expect(written.messages.map(({ content }) => content)).toEqual(['We are open.']);
  });

  it('has a message once that comes again after a lost connection', () => {
    expect(play(message('a', 'Hello'), message('b', 'Yes?'), message('a', 'Hello')).messages).toHaveLength(2);
  });

  it('is the same after a heartbeat', () => {
    expect(talkAfter(silent, { type: 'message', data: '' })).toBe(silent);
  });

  it('drops an answer in progress when a person takes over or the thread ends', () => {
    const at = '2030-01-01T00:00:00.000Z';
    const writing = event('delta', { id: 'a', text: 'We' });
    expect(play(writing, event('handoff', { live_agent_handoff_at: at }))).toEqual({
      ...silent,
      live_agent_handoff_at: at,
    });
    expect(play(writing, event('ended', { ended_at: at }))).toEqual({ ...silent, ended_at: at });
  });
});

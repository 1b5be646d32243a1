import { describe, expect, it } from 'vitest';
import { embedCode, stateOf } from './lines.ts';

describe('what the screens of widgets show', () => {
  it('names the script at the address of the console', () => {
    const codes = [false, true].map((voice) => embedCode('https://control.example.com', '1-2', voice));
    expect(codes).toEqual([
      '<script src="https://control.example.com/widget/1-2/embed.js" async></script>',
      '<script src="https://control.example.com/widget/1-2/embed.js" async data-voice></script>',
    ]);
  });

  it('says who answers a thread, and that one has ended whoever answered', () => {
    const at = '2030-01-01T00:00:00.000Z';
    expect(stateOf({ ended_at: null, live_agent_handoff_at: null })).toBe('agent');
    expect(stateOf({ ended_at: null, live_agent_handoff_at: at })).toBe('person');
    expect(stateOf({ ended_at: at, live_agent_handoff_at: at })).toBe('ended');
  });
});

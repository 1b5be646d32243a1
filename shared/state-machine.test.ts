import { describe, expect, it } from 'vitest';
import { accepts, IllegalMove, ignored, type Moves, machine, Stateful, step, to } from './state-machine.ts';

const door = machine('a door', {
  open: { shut: to('closed', 'swing', 'click'), ...ignored('open', 'look') },
  closed: { open: to('open', 'creak'), ...ignored('closed', 'look') },
} satisfies Moves<'open' | 'closed', 'open' | 'shut' | 'look', 'swing' | 'click' | 'creak'>);

describe('a state machine', () => {
  it('says where an input leads and what to do', () => {
    expect(step(door, 'open', 'shut')).toEqual({ to: 'closed', actions: ['swing', 'click'] });
    expect(step(door, 'closed', 'look')).toEqual({ to: 'closed', actions: [] });
  });

  it('rejects an illegal input with its name, state and input', () => {
    expect(accepts(door, 'closed', 'shut')).toBe(false);
    expect(() => step(door, 'closed', 'shut')).toThrow(IllegalMove);
    expect(() => step(door, 'closed', 'shut')).toThrow('illegal input "shut" for a door in state closed');
  });

  it('is in the new state while the actions run in their order', () => {
    const one = new Stateful(door, 'open');
    const done: string[] = [];
    one.take('shut', {
      swing: () => done.push(`swing ${one.state}`),
      click: () => done.push(`click ${one.state}`),
    });
    expect(done).toEqual(['swing closed', 'click closed']);
    expect(one.is('open', 'closed')).toBe(true);
    expect(one.is('open')).toBe(false);
  });

  it('stays where it is and does nothing when the input is illegal', () => {
    const one = new Stateful(door, 'open');
    expect(() => one.take('open', { creak: () => expect.unreachable() })).toThrow(IllegalMove);
    expect(one.state).toBe('open');
  });

  it('performs the actions after one that fails, and throws its error', () => {
    const one = new Stateful(door, 'open');
    const done: string[] = [];
    const fail = () => {
      throw new Error('stuck');
    };
    expect(() => one.take('shut', { swing: fail, click: () => done.push('click') })).toThrow('stuck');
    expect(done).toEqual(['click']);
    const other = new Stateful(door, 'open');
    expect(() => other.take('shut', { swing: fail, click: fail })).toThrow(AggregateError);
  });
});

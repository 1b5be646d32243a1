import { describe, expect, it } from 'vitest';
import { readFrame } from './valid-frame.ts';

describe('a frame from control', () => {
  it.each([
    [{ type: 'ack', seq: 3 }],
    [{ type: 'calls_wanted' }],
    [{ type: 'command', id: 'one', command: { kind: 'call.stop', call_id: 'call' } }],
  ])('is read: %o', (frame) => {
    const logged: unknown[] = [];
    const read = readFrame(JSON.stringify(frame), (...entry) => void logged.push(entry));
    expect(logged).toEqual([]);
    expect(read).toEqual(frame);
  });

  it.each([
    ['null', undefined],
    ['[]', undefined],
    ['{}', undefined],
    ['{"type":["ack"]}', ['ack']],
    ['{"type":"of a newer control plane"}', 'of a newer control plane'],
    ['{"type":"ack","seq":"3"}', 'ack'],
  ])('that is not known is logged: %s', (text, type) => {
    const logged: unknown[] = [];
    expect(readFrame(text, (_level, message, facts) => void logged.push([message, facts]))).toBeNull();
    expect(logged).toEqual([
      ['control sent a frame that this edge does not know', { type, problem: expect.any(String) }],
    ]);
  });
});

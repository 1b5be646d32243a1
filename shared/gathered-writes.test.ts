import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { GatheredWrites } from './gathered-writes.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function gathering(pauseMs: number): { write: (text: string) => void; left: string[] } {
  const left: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    writev: (chunks, done) => {
      left.push(chunks.map(({ chunk }) => chunk).join(''));
      done();
    },
  });
  const gathered = new GatheredWrites(stream, pauseMs);
  return {
    left,
    write: (text) => {
      gathered.gather();
      stream.write(text);
    },
  };
}

it('sends what an idle stream gets in one turn at once, in one write', () => {
  const { write, left } = gathering(10);
  write('a');
  write('b');
  expect(left).toEqual([]);
  vi.advanceTimersByTime(0);
  expect(left).toEqual(['ab']);
});

it('writes to a busy stream once per pause, in order', () => {
  const { write, left } = gathering(10);
  write('a');
  vi.advanceTimersByTime(1);
  write('b');
  vi.advanceTimersByTime(4);
  write('c');
  expect(left).toEqual(['a']);
  vi.advanceTimersByTime(6);
  expect(left).toEqual(['a', 'bc']);
});

it('does not let a stream wait that was idle for a pause', () => {
  const { write, left } = gathering(10);
  write('a');
  vi.advanceTimersByTime(20);
  write('b');
  vi.advanceTimersByTime(0);
  expect(left).toEqual(['a', 'b']);
});

/** The coverage-guided fuzzer itself, and a short run of each target; `npm run fuzz` runs longer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { rounds } from '../kit/long-test.ts';
import { fuzz } from './fuzzer.ts';
import { Instrument } from './instrument.ts';
import { run } from './run.ts';
import { targets } from './targets.ts';

/** Each target is a process of its own; to instrument the same files takes it longer than its tries. */
const kept = mkdtempSync(join(tmpdir(), 'fuzz-kept-'));
afterAll(() => rmSync(kept, { recursive: true }));

test.each(Object.keys(targets))('%s keeps its invariants, with work linear in its input', async (name) => {
  const { problem, input } = await run({ name, seed: 1, tries: rounds(300), kept });
  expect(problem && { problem, input: input.toString('latin1') }).toBeNull();
});

/** A function of the source, instrumented. */
function loaded(instrument: Instrument, source: string): (input: Buffer) => void {
  return new Function('input', instrument.instrumented(source)) as (input: Buffer) => void;
}

test('finds a fault behind several unlikely conditions, and minimizes its input', () => {
  const source = `const [a, b, c, d] = input;
    if (a === 10) { if (b === 13) if (c === 34) { d === 92 && (() => { throw new Error('a fault'); })(); } }`;
  const instrument = new Instrument('__guided');
  const target = { corpus: () => [Buffer.alloc(8)], words: ['x'], check: loaded(instrument, source) };
  const goOn = (tries: number) => tries < 60_000;
  expect(fuzz(target, 1, goOn).finding).toBeNull();
  const { finding } = fuzz(target, 1, goOn, { instrument });
  expect(finding?.input).toEqual(Buffer.from([10, 13, 34, 92]));
});

test('reports an input whose work grows faster than its length', () => {
  const source = 'for (const one of input) for (const other of input) if (one === other) continue;';
  const instrument = new Instrument('__work');
  const check = loaded(instrument, source);
  const with_ = (length: number) =>
    fuzz({ corpus: () => [Buffer.alloc(length)], words: ['x'], check }, 1, () => false, { instrument });
  expect(with_(100).finding).toBeNull();
  expect(with_(10_000).finding?.error.message).toMatch(/^ran \d+ blocks for 10000 octets$/);
});

test('instrumented code behaves like the original', () => {
  const instrument = new Instrument('__same');
  const source = `
    const f = ({ a = 1, b }, c = a ?? 2) => ({ sum: a + (b ? b : 0) + c });
    let text = '';
    for (const n of [1, 2, 3]) switch (n) { case 1: text += 'one'; break; case 2: case 3: const m = n; text += m; default: }
    do text += '.'; while (text.length < 8);
    if (text) if (!text) text = ''; else text += '!';
    try { null.x; } catch { text += '?'; }
    return [text, f({ b: 3 }), f({}, 0), [1, 2].map((x) => x && -x)];`;
  const plain: unknown = new Function('input', source)();
  expect(
    new Function('input', instrument.instrumented(`(() => {${source}})`).replace(/^/, 'return '))()(),
  ).toEqual(plain);
  expect(instrument.take().work).toBeGreaterThan(10);
});

test.each([
  ['heap', /heap out of memory/],
  ['buffers', /takes \d+ MiB/],
])('ends a process that allocates memory without limit (%s), and keeps its input', async (name, said) => {
  const { problem, input } = await run({ name, seed: 1 }, new URL('./grows.ts', import.meta.url));
  expect(problem).toMatch(said);
  expect(input.toString()).toBe('the input');
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CodePool } from './code-pool.ts';

let pool: CodePool;
let killed = 0;
beforeAll(() => {
  pool = new CodePool({ threads: 1, mostWaiting: 3, graceMs: 20_000 }, () => killed++);
});
afterAll(() => pool.close());

const memoryBytes = 16 * 1024 * 1024;
const run = (code: string, input: unknown = {}, cpuMs = 2000, signal = new AbortController().signal) =>
  pool.run(
    { kind: 'code', code, input: JSON.stringify(input), variables: '{"city":"Bern"}', cpuMs, memoryBytes },
    { orgId: 'a', timeoutMs: 60_000, signal },
  );

describe('code of a tool', () => {
  it.each([
    ['return { sum: input.a + input.b };', { a: 1, b: 2 }, { sum: 3 }],
    ['input.items.map((item) => item.toUpperCase())', { items: ['x', 'y'] }, ['X', 'Y']],
    ['return variables.city', {}, 'Bern'],
    ['return undefined', {}, null],
    ['return Promise.resolve(4).then((n) => n * 2)', {}, 8],
    ['const n = await Promise.resolve(4); return n * 2', {}, 8],
    ['return new Date(0).toISOString()', {}, '1970-01-01T00:00:00.000Z'],
  ])('%s returns its result as JSON', async (code, input, value) => {
    expect(await run(code, input)).toEqual({ value });
  });

  it.each([
    ['throw new TypeError("no such order")', 'TypeError: no such order'],
    ['throw "text"', 'text'],
    ['return (', "SyntaxError: unexpected token in expression: '}'"],
    ['return new Promise(() => {})', 'the result is a promise that nothing settles'],
    ['return Promise.reject(new Error("later"))', 'Error: later'],
    ['const a = {}; a.a = a; return a', 'TypeError: circular reference'],
    ['return 10n', 'TypeError: Do not know how to serialize a BigInt'],
    ['return "x".repeat(2000000)', 'the result has more than 1048576 characters'],
  ])('%s reports the error', async (code, error) => {
    expect(await run(code)).toEqual({ error });
  });

  it.each([
    ['while (true) {}'],
    ['for (;;) { try { while (true) {} } catch {} }'],
    ['const again = () => void Promise.resolve().then(again); again(); return new Promise(() => {})'],
    ['return { toJSON() { while (true) {} } }'],
    ['return /^(a+)+$/.test("a".repeat(60) + "!")'],
  ])('%s is stopped at its time limit', async (code) => {
    expect(await run(code, {}, 200)).toEqual({ error: 'the code ran longer than 200 ms' });
  });

  it('that uses up memory or stack fails alone', async () => {
    expect(await run('const all = []; for (;;) all.push(new ArrayBuffer(1000000));', {}, 10_000)).toEqual({
      error: expect.stringMatching(/out of memory/),
    });
    // Each block is far below the limit.
    for (const small of ['new Array(10_000).fill(1)', '"x".repeat(1000) + all.length']) {
      expect(await run(`const all = []; for (;;) all.push(${small});`, {}, 10_000)).toEqual({
        error: expect.stringMatching(/out of memory/),
      });
    }
    expect(await run('const deep = () => deep() + 1; return deep()')).toEqual({
      error: expect.stringMatching(/stack/),
    });
    // An endless chain of promises may crash the engine itself, and its thread with it.
    const chain = 'const again = () => Promise.resolve().then(again); return again()';
    expect(await run(chain)).toEqual({ error: expect.any(String) });
    expect(await run('return 1')).toEqual({ value: 1 });
  });

  it.each([
    'fetch',
    'process',
    'require',
    'XMLHttpRequest',
    'WebSocket',
    'setTimeout',
    'console',
    'std',
    'os',
    'Worker',
    'Buffer',
    'WebAssembly',
  ])('has no %s', async (name) => {
    expect(await run(`return typeof ${name}`)).toEqual({ value: 'undefined' });
  });

  it.each([
    ['return import("node:fs")', /could not load module|not supported|module/i],
    ['return this.constructor.constructor("return process")()', /process/],
    ['return [].constructor.constructor("return globalThis.process.env")()', /undefined|env/],
    ['return (function () { return arguments.callee.caller })().x', /./],
  ])('cannot escape by %s', async (code, error) => {
    expect(await run(code)).toEqual({ error: expect.stringMatching(error) });
  });

  it('leaves nothing behind for the next run, whatever it changes', async () => {
    await run('Object.prototype.polluted = 1; globalThis.kept = 1; JSON.parse = () => 7; return 1');
    expect(await run('return [({}).polluted, typeof kept, JSON.parse("[2]")]')).toEqual({
      value: [null, 'undefined', [2]],
    });
  });

  it('that replaces JSON.stringify produces only text that is validated again', async () => {
    expect(await run('JSON.stringify = () => "{"; return 1')).toEqual({ error: 'the result is not JSON' });
    expect(await run('JSON.stringify = () => "[1]"; return 2')).toEqual({ value: [1] });
  });

  it('waits in line up to a limit, and can be aborted', async () => {
    const stop = new AbortController();
    const slow = run('while (true) {}', {}, 200);
    const given = run('return 2', {}, 200, stop.signal);
    const others = [run('return 3'), run('return 4')];
    expect(await run('return 5')).toEqual({ error: 'too much code waits to be run; try again' });
    stop.abort();
    expect(await given).toEqual({ error: 'the run was aborted' });
    expect(await slow).toEqual({ error: 'the code ran longer than 200 ms' });
    expect(await Promise.all(others)).toEqual([{ value: 3 }, { value: 4 }]);
    expect(killed).toBe(0);
  });
});

describe('an unresponsive thread', () => {
  it('is terminated, and the next run has a new one', async () => {
    let ended = 0;
    const strict = new CodePool({ threads: 1, mostWaiting: 3, graceMs: -1000 }, () => ended++);
    const question = { kind: 'code', input: '{}', variables: '{}', cpuMs: 1000, memoryBytes } as const;
    const order = { orgId: 'a', timeoutMs: 60_000, signal: new AbortController().signal };
    expect(await strict.run({ ...question, code: 'while (true) {}' }, order)).toEqual({
      error: 'the code ran longer than 1000 ms',
    });
    expect(ended).toBe(1);
    const other = await strict.run({ ...question, code: 'return 1', cpuMs: 31_000 }, order);
    expect(other).toEqual({ value: 1 });
    await strict.close();
    expect(await strict.run({ ...question, code: 'return 1' }, order)).toEqual({
      error: 'the service is stopping',
    });
  });
});

describe('threads shared by several organizations', () => {
  const endless = { kind: 'code', code: 'while (true) {}', input: '{}', variables: '{}' } as const;
  const cpuMs = 60_000;
  let ended = 0;
  let shared: CodePool;
  beforeAll(() => {
    shared = new CodePool({ threads: 2, mostWaiting: 2, graceMs: 20_000 }, () => ended++);
  });
  afterAll(() => shared.close());
  const loop = (orgId: string, signal: AbortSignal, timeoutMs = 60_000) =>
    shared.run({ ...endless, cpuMs, memoryBytes }, { orgId, timeoutMs, signal });
  const quick = (orgId: string, value: number) =>
    shared.run(
      { ...endless, code: `return ${value}`, cpuMs, memoryBytes },
      { orgId, timeoutMs: 60_000, signal: new AbortController().signal },
    );

  it("leave one for the others, whose runs do not queue behind the first's", async () => {
    const stop = new AbortController();
    const loops = [1, 2, 3].map(() => loop('a', stop.signal));
    expect(await quick('b', 7)).toEqual({ value: 7 });
    expect(shared.waiting).toBe(2);
    expect(await quick('a', 8)).toEqual({ error: 'too much code waits to be run; try again' });
    expect(await Promise.all([quick('b', 9), quick('c', 10)])).toEqual([{ value: 9 }, { value: 10 }]);
    stop.abort();
    expect(await Promise.all(loops)).toEqual(Array(3).fill({ error: 'the run was aborted' }));
    expect(shared.waiting).toBe(0);
  });

  it('are terminated when their run is aborted, so that the next run does not wait', async () => {
    const before = ended;
    const stop = new AbortController();
    const given = loop('a', stop.signal);
    const next = quick('a', 1);
    stop.abort();
    expect(await given).toEqual({ error: 'the run was aborted' });
    expect(await next).toEqual({ value: 1 });
    expect(ended).toBe(before + 1);
  });

  it("are waited for no longer than the run's timeout, which includes running", async () => {
    const stop = new AbortController();
    // The thread is up before the times count.
    expect(await quick('a', 0)).toEqual({ value: 0 });
    const [first, second] = [loop('a', stop.signal, 300), loop('a', stop.signal, 200)];
    expect(await second).toEqual({ error: 'no thread was free for the code within 200 ms' });
    expect(await first).toEqual({ error: 'the code ran longer than 300 ms' });
    expect(await quick('a', 1)).toEqual({ value: 1 });
  });

  it('check schemas and extract JSON paths that the main thread should not compute', async () => {
    const order = { orgId: 'a', timeoutMs: 60_000, signal: new AbortController().signal };
    const schema = JSON.stringify({ patternProperties: { '^(a+)+$': { type: 'number' } } });
    const check = (value: unknown) =>
      shared.run({ kind: 'check', schema, value: JSON.stringify(value) }, order);
    expect(await check({ aa: 'x' })).toEqual({ value: [{ path: '/aa', rule: 'must be number' }] });
    expect(await check({ [`${'a'.repeat(60)}!`]: 1 })).toEqual({ error: 'took longer than 100 ms' });
    const take = (path: string, response: unknown) =>
      shared.run(
        {
          kind: 'paths',
          entries: JSON.stringify([{ name: 'x', data: path }]),
          response: JSON.stringify(response),
        },
        order,
      );
    expect(await take('$.a[?@.n > 1].n', { a: [{ n: 1 }, { n: 2 }] })).toEqual({ value: { x: [2] } });
    const texts = Array.from({ length: 5 }, () => ({ v: `${'a'.repeat(60)}!` }));
    expect(await take('$[?match(@.v, "(a+)+b")]', texts)).toEqual({ error: 'took longer than 100 ms' });
  });
});

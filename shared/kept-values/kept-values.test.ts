import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFlags } from '../../scripts/supervisor/node-flags.ts';
import { number } from '../shapes.ts';
import type { ValueDisk } from './disk.ts';
import { readFrames } from './frame.ts';
import { KeptValues } from './kept-values.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-values-'));
  path = join(folder, 'values.journal');
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(disk?: ValueDisk, faults: string[] = []): KeptValues<number> {
  return new KeptValues({
    path,
    shape: number,
    failed: (fault) => void faults.push(fault),
    ...(disk && { disk }),
  });
}

const all = (values: KeptValues<number>) => Object.fromEntries(values.entries());

describe('kept values', () => {
  it('survive a restart, and so does that there are none any more', async () => {
    const values = open();
    values.set('a', 1);
    values.set('b', 2);
    await values.written();
    values.set('a', 3);
    values.delete('b');
    values.delete('never there');
    values.set('c \u001eTV1', 4);
    await values.close();
    values.set('a', 5);
    const again = open();
    expect(all(again)).toEqual({ a: 3, 'c \u001eTV1': 4 });
    await again.close();
  });

  it('are those of the whole frames, wherever the file is cut off, and go on from there', async () => {
    const values = open();
    const states: { readonly size: number; readonly values: object }[] = [{ size: 0, values: {} }];
    for (const count of [1, 2, 3]) {
      values.set(`key ${count}`, count);
      values.set('last', count);
      await values.written();
      states.push({ size: readFileSync(path).length, values: all(values) });
    }
    await values.close();
    const whole = readFileSync(path);
    for (let size = 0; size <= whole.length; size++) {
      writeFileSync(path, whole.subarray(0, size));
      const expected = states.findLast((state) => state.size <= size)?.values;
      const cut = open();
      expect([size, all(cut)]).toEqual([size, expected]);
      if (size % 16 !== 0) continue;
      cut.set('next', size);
      await cut.close();
      expect(all(open())).toEqual({ ...expected, next: size });
    }
  });

  it('that were not damaged are there, and the damage is gone after the next change', async () => {
    const values = open();
    for (const key of ['a', 'b', 'c']) {
      values.set(key, 1);
      await values.written();
    }
    await values.close();
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('"b"') + 1] = 0;
    writeFileSync(path, bytes);
    const damaged = open();
    expect(all(damaged)).toEqual({ a: 1, c: 1 });
    damaged.set('d', 1);
    await damaged.close();
    expect(all(open())).toEqual({ a: 1, c: 1, d: 1 });
    expect(readFrames(readFileSync(path)).damaged).toBe(0);
  });

  it('of another shape are left out', async () => {
    const texts = new KeptValues<unknown>({ path, shape: { fault: () => null }, failed: () => {} });
    texts.set('a', 'text');
    texts.set('b', 1);
    await texts.close();
    expect(all(open())).toEqual({ b: 1 });
  });

  it('that were on the device are there after kill -9', async () => {
    const writer = spawn(
      process.execPath,
      [...nodeFlags.edge, join(import.meta.dirname, '../../test/kit/programs/kept-values-writer.ts'), path],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let printed = '';
    for await (const chunk of writer.stdout) {
      printed += String(chunk);
      if (printed.split('\n').length > 100) writer.kill('SIGKILL');
    }
    if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
    const last = Number(printed.trimEnd().split('\n').at(-1));
    const values = [...open().entries()].map(([, value]) => value);
    expect(values).toHaveLength(50);
    for (const value of values) expect(value).toBeGreaterThanOrEqual(last);
  });

  it('that cannot be read are no reason to start without them', () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    expect(() => open()).toThrow(/ENOTDIR.*values\.journal/);
    rmSync(folder);
    expect(all(open())).toEqual({});
    // For the end of the test.
    folder = mkdtempSync(join(tmpdir(), 'kept-values-'));
  });
});

/** A disk in memory. */
class MemoryDisk implements ValueDisk {
  readonly files = new Map<string, Buffer>();
  /** Octets of each write. */
  readonly writes: number[] = [];
  fault: { readonly of: 'write' | 'sync' | 'rename'; readonly code: string } | null = null;
  wait: Promise<void> = Promise.resolve();

  read(name: string): Buffer | null {
    return this.files.get(name) ?? null;
  }

  async open(name: string, isNew: boolean) {
    const former = isNew ? undefined : this.files.get(name);
    const bytes = former ?? Buffer.alloc(0);
    const file = { bytes, room: bytes, name };
    const put = () => void this.files.set(file.name, file.bytes);
    put();
    this.#open.set(name, file);
    return {
      write: async (octets: Uint8Array, at: number) => {
        await this.wait;
        const failing = this.fault?.of === 'write';
        // A full disk takes the beginning.
        const taken = failing ? octets.subarray(0, octets.length / 2) : octets;
        const end = at + taken.length;
        // It grows by doubling: what is written here thousands of times would be copied each time.
        if (end > file.room.length) {
          const room = Buffer.alloc(2 * end);
          room.set(file.bytes);
          file.room = room;
        }
        file.room.set(taken, at);
        file.bytes = file.room.subarray(0, Math.max(end, file.bytes.length));
        put();
        this.#failAt('write');
        this.writes.push(octets.length);
      },
      sync: async () => this.#failAt('sync'),
      close: async () => {},
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#failAt('rename');
    const file = this.#open.get(from);
    if (file) file.name = to;
    this.files.set(to, this.files.get(from) ?? Buffer.alloc(0));
    this.files.delete(from);
  }

  readonly #open = new Map<string, { name: string; bytes: Buffer; room: Buffer }>();

  #failAt(what: string): void {
    if (this.fault?.of !== what) return;
    throw Object.assign(new Error(this.fault.code), { code: this.fault.code });
  }
}

describe('kept values on another disk', () => {
  it('do not wait for a slow one: what changes meanwhile is one write, with the last value of each key', async () => {
    const disk = new MemoryDisk();
    const gate = Promise.withResolvers<void>();
    disk.wait = gate.promise;
    const values = open(disk);
    values.set('a', 0);
    await new Promise((resolve) => setImmediate(resolve));
    for (let count = 1; count <= 1_000; count++) values.set(count % 2 === 0 ? 'a' : 'b', count);
    expect(all(values)).toEqual({ a: 1_000, b: 999 });
    gate.resolve();
    await values.written();
    expect(disk.writes).toHaveLength(2);
    expect(disk.writes[1]).toBeLessThan(50);
    expect(all(open(disk))).toEqual({ a: 1_000, b: 999 });
  });

  it.each([
    ['write', 'ENOSPC', 'full'],
    ['sync', 'EIO', 'failing'],
    ['rename', 'EROFS', 'read_only'],
  ] as const)(
    'stay in memory when %s fails with %s, and are written with the next change',
    async (of, code, fault) => {
      const disk = new MemoryDisk();
      const faults: string[] = [];
      const values = open(disk, faults);
      const begun = of !== 'rename';
      if (begun) {
        values.set('a', 1);
        await values.written();
      }
      disk.fault = { of, code };
      values.set('b', 2);
      await values.written();
      values.set('c', 3);
      await values.written();
      expect(faults).toEqual([fault, fault]);
      expect(values.get('b')).toBe(2);
      disk.fault = null;
      values.set('d', 4);
      await values.written();
      expect(faults).toHaveLength(2);
      expect(all(open(disk))).toEqual({ ...(begun && { a: 1 }), b: 2, c: 3, d: 4 });
    },
  );

  it('are written whenever they change while the write before them ends', async () => {
    for (let turns = 0; turns < 60; turns++) {
      const disk = new MemoryDisk();
      const values = open(disk);
      values.set('a', 1);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      values.set('b', 2);
      await new Promise((resolve) => setImmediate(resolve));
      await values.written();
      expect([turns, all(open(disk))]).toEqual([turns, { a: 1, b: 2 }]);
    }
  });

  it('that could not be written are tried once more at the end', async () => {
    const disk = new MemoryDisk();
    const values = open(disk);
    disk.fault = { of: 'write', code: 'ENOSPC' };
    values.set('a', 1);
    await values.written();
    disk.fault = null;
    await values.close();
    expect(all(open(disk))).toEqual({ a: 1 });
  });

  it('have a file that does not grow without end', async () => {
    const disk = new MemoryDisk();
    const values = open(disk);
    let most = 0;
    for (let count = 0; count < 10_000; count++) {
      values.set(`key ${count % 3}`, count);
      await values.written();
      most = Math.max(most, disk.files.get(path)?.length ?? 0);
    }
    expect(most).toBeLessThan(70_000);
    expect([...disk.files.keys()]).toEqual([path]);
    expect(all(open(disk))).toEqual(all(values));
  });

  it('have a file that does not grow without end over restarts either', async () => {
    const disk = new MemoryDisk();
    let most = 0;
    for (let start = 0; start < 20; start++) {
      const values = open(disk);
      for (let count = 0; count < 300; count++) {
        values.set('key', count);
        await values.written();
      }
      most = Math.max(most, disk.files.get(path)?.length ?? 0);
      await values.close();
    }
    expect(most).toBeLessThan(70_000);
  });
});

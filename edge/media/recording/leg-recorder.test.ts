import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { readRecording, recordingOrder } from '../../../test/kit/edge/recordings.ts';
import type { AudioEndpoint } from '../../call/ports/media.ts';
import { DiskRoom } from './disk-room.ts';
import { DiskSync } from './disk-sync.ts';
import { LegRecorder } from './leg-recorder.ts';
import { type GrowingFile, mostPendingBytes } from './recording-file.ts';

const id = '01234567-89ab-7def-8123-456789abcdef';
let folder: string;
let clock: FakeClock;
let room: DiskRoom;
let syncs: DiskSync;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recording-'));
  clock = new FakeClock(1_000_000);
  room = new DiskRoom(10_000_000);
  syncs = new DiskSync(clock);
});
afterEach(() => rm(folder, { recursive: true }));

/** Exchanges `count` frames: the peer says `heard`, the endpoint what it likes. */
async function exchange(end: AudioEndpoint, count: number, heard: number): Promise<void> {
  const frame = new Int16Array(end.sampleRate / 50);
  for (let i = 0; i < count; i++) {
    end.read(frame);
    end.write?.(frame.fill(heard));
    clock.advance(20);
  }
}

/** Always says `sample`. */
function saying(sample: number, sampleRate: 8000 | 16000 = 8000): AudioEndpoint & { heard: number[] } {
  const heard: number[] = [];
  return {
    sampleRate,
    heard,
    read: (frame) => {
      frame.fill(sample);
      return true;
    },
    write: (frame) => heard.push(frame[0] ?? 0),
  };
}

/** Mu-law is exact to about a thirtieth. */
function near(value: number | undefined, wanted: number): boolean {
  return Math.abs((value ?? Number.NaN) - wanted) <= Math.max(16, Math.abs(wanted) / 30);
}

describe('a recorded leg', () => {
  it('has both sides on their own channels, and passes every frame on', async () => {
    const recorder = new LegRecorder(recordingOrder(id), { clock, folder, room, syncs });
    const agent = saying(4_000);
    await exchange(recorder.tap(agent), 60, -2_000);
    await recorder.close();
    const { heard, sent, marks, torn } = await readRecording(join(folder, `${id}.rec`));
    expect(heard.length).toBe(60 * 160);
    expect(heard.every((sample) => near(sample, -2_000))).toBe(true);
    expect(sent.every((sample) => near(sample, 4_000))).toBe(true);
    expect(marks).toEqual([{ what: 'ended', at: 60 }]);
    expect(torn).toBe(false);
    expect(agent.heard).toEqual(Array.from({ length: 60 }, () => -2_000));
  });

  it('goes on over another endpoint, and is silent on our side while that says nothing', async () => {
    const recorder = new LegRecorder(recordingOrder(id), { clock, folder, room, syncs });
    await exchange(recorder.tap(saying(4_000)), 10, 1_000);
    await exchange(recorder.tap({ sampleRate: 8000, read: () => false }), 10, 1_000);
    await exchange(recorder.tap(saying(4_000, 16_000)), 10, 1_000);
    await recorder.close();
    const { heard, sent } = await readRecording(join(folder, `${id}.rec`));
    expect(sent.length).toBe(30 * 160);
    expect(sent.subarray(10 * 160, 20 * 160).every((sample) => sample === 0)).toBe(true);
    expect(near(sent[29 * 160], 4_000)).toBe(true);
    expect(near(heard[29 * 160], 1_000)).toBe(true);
  });

  it('keeps the time of a gap', async () => {
    const recorder = new LegRecorder(recordingOrder(id), { clock, folder, room, syncs });
    const end = recorder.tap(saying(4_000));
    await exchange(end, 10, 1_000);
    clock.advance(1_000);
    await exchange(end, 10, 1_000);
    await recorder.close();
    const { heard } = await readRecording(join(folder, `${id}.rec`));
    expect(heard.length).toBe(70 * 160);
    expect(heard.subarray(10 * 160, 60 * 160).every((sample) => sample === 0)).toBe(true);
    expect(near(heard[60 * 160], 1_000)).toBe(true);
  });

  it('holds nothing of a paused part, whose time is marked', async () => {
    const recorder = new LegRecorder(recordingOrder(id), { clock, folder, room, syncs });
    const end = recorder.tap(saying(4_000));
    await exchange(end, 10, 1_000);
    recorder.pause();
    recorder.pause();
    await exchange(end, 30, 30_000);
    recorder.resume();
    await exchange(end, 10, 1_000);
    await recorder.close();
    const { heard, sent, marks } = await readRecording(join(folder, `${id}.rec`));
    expect(heard.length).toBe(50 * 160);
    expect(heard.every((sample) => Math.abs(sample) < 2_000)).toBe(true);
    expect(sent.subarray(10 * 160, 40 * 160).every((sample) => sample === 0)).toBe(true);
    expect(marks).toEqual([
      { what: 'paused', at: 10 },
      { what: 'resumed', at: 40 },
      { what: 'ended', at: 50 },
    ]);
  });

  it('never goes back in time, also where frames come faster than the clock', async () => {
    const recorder = new LegRecorder(recordingOrder(id), { clock, folder, room, syncs });
    const end = recorder.tap(saying(4_000));
    const frame = new Int16Array(160);
    const burst = () => {
      for (let i = 0; i < 5; i++) {
        end.read(frame);
        end.write?.(frame.fill(1_000));
      }
      clock.advance(20);
    };
    burst();
    recorder.pause();
    clock.advance(40);
    recorder.resume();
    burst();
    await recorder.close();
    const { heard, marks } = await readRecording(join(folder, `${id}.rec`));
    expect(heard.length).toBe(10 * 160);
    expect(heard.every((sample) => near(sample, 1_000))).toBe(true);
    expect(marks.map(({ at }) => at)).toEqual([5, 5, 10]);
  });

  it('is paused by itself or with others, until neither is so', async () => {
    const told: boolean[] = [];
    const paused = (on: boolean) => void told.push(on);
    const recorder = new LegRecorder(recordingOrder(id, { pauseKey: '*', paused }), {
      clock,
      folder,
      room,
      syncs,
    });
    const key = () => recorder.tap(saying(4_000)).dtmf?.({ digit: '*', durationMs: 100 });
    clock.advance(100);
    recorder.pauseWithOthers(true);
    clock.advance(100);
    key();
    clock.advance(100);
    recorder.pauseWithOthers(false);
    clock.advance(100);
    recorder.resume();
    recorder.resume();
    await recorder.close();
    const { marks } = await readRecording(join(folder, `${id}.rec`));
    expect(marks.map(({ what, at }) => [what, at])).toEqual([
      ['paused', 5],
      ['resumed', 20],
      ['ended', 20],
    ]);
    expect(told).toEqual([true, false]);
  });

  it('is paused and resumed by the key of the peer, which the endpoint gets too', async () => {
    const recorder = new LegRecorder(recordingOrder(id, { pauseKey: '*' }), { clock, folder, room, syncs });
    const dtmf = vi.fn();
    const end = recorder.tap({ ...saying(4_000), dtmf });
    await exchange(end, 10, 1_000);
    for (const digit of ['1', '*']) end.dtmf?.({ digit, durationMs: 100 });
    await exchange(end, 10, 1_000);
    end.dtmf?.({ digit: '*', durationMs: 100 });
    await recorder.close();
    const { marks } = await readRecording(join(folder, `${id}.rec`));
    expect(marks.map(({ what, at }) => [what, at])).toEqual([
      ['paused', 10],
      ['resumed', 20],
      ['ended', 20],
    ]);
    expect(dtmf).toHaveBeenCalledTimes(3);
  });

  it('has few enough gaps for control, however often the key is pressed', async () => {
    const order = { ...recordingOrder(id), pauseKey: '*' };
    const recorder = new LegRecorder(order, { clock, folder, room, syncs });
    const end = recorder.tap(saying(4_000));
    for (let press = 0; press < 5_000; press++) {
      end.dtmf?.({ digit: '*', durationMs: 100 });
      await exchange(end, 5, -2_000);
    }
    // Pressed an even number of times: it goes on, at the latest ten seconds after the last pause began.
    await exchange(end, 510, -2_000);
    await recorder.close();
    const { marks } = await readRecording(join(folder, `${id}.rec`));
    const resumed = marks.filter(({ what }) => what === 'resumed');
    // 1,000 quick ones, and 3,000 presses of 100 ms in pauses of ten seconds.
    expect(resumed.length).toBeGreaterThanOrEqual(1_000);
    expect(resumed.length).toBeLessThanOrEqual(1_031);
    expect(marks.at(-2)?.what).toBe('resumed');
  });

  it('has silence on our side while the peer is on hold', async () => {
    const recorder = new LegRecorder(recordingOrder(id), { clock, folder, room, syncs });
    recorder.sending = false;
    await exchange(recorder.tap(saying(4_000)), 10, 1_000);
    await recorder.close();
    const { sent } = await readRecording(join(folder, `${id}.rec`));
    expect(sent.every((sample) => sample === 0)).toBe(true);
  });

  it.each([8_000, 16_000] as const)('begins with its announcement, at %i Hz too', async (rate) => {
    const announcement = new Int16Array(2_000).fill(7_000);
    const recorder = new LegRecorder(recordingOrder(id, { announcement }), { clock, folder, room, syncs });
    const agent = saying(-3_000, rate);
    await exchange(recorder.tap(agent), 20, 0);
    await recorder.close();
    const { sent } = await readRecording(join(folder, `${id}.rec`));
    expect(near(sent[1_000], 7_000)).toBe(true);
    expect(near(sent[14 * 160], -3_000)).toBe(true);
  });

  it('stops when recordings may use no more of the disk, says so in the file, and the audio goes on', async () => {
    const stopped = vi.fn();
    room = new DiskRoom(131_072);
    const recorder = new LegRecorder(recordingOrder(id, { stopped }), { clock, folder, room, syncs });
    const agent = saying(4_000);
    const end = recorder.tap(agent);
    await exchange(end, 500, 1_000);
    await expect.poll(() => stopped).toHaveBeenCalledTimes(1);
    expect(stopped.mock.calls[0]?.[0]).toBe('edge_disk_full');
    await recorder.close();
    const { heard, marks } = await readRecording(join(folder, `${id}.rec`));
    expect(marks.map((mark) => ('reason' in mark ? mark.reason : mark.what))).toEqual(['edge_disk_full']);
    expect(heard.length).toBe(16 * 25 * 160);
    expect(agent.heard).toHaveLength(500);
    expect(room.usedBytes).toBeGreaterThan(128_000);
  });

  it('leaves no file when there is no room at its beginning', async () => {
    const stopped = vi.fn();
    room = new DiskRoom(1_000);
    const recorder = new LegRecorder(recordingOrder(id, { stopped }), { clock, folder, room, syncs });
    await exchange(recorder.tap(saying(1)), 60, 1);
    await expect.poll(() => stopped).toHaveBeenCalledTimes(1);
    await recorder.close();
    expect(await readdir(folder)).toEqual([]);
    expect(room.usedBytes).toBe(0);
  });

  /** A real file whose writes and syncs may fail. */
  const failing = (part: Partial<GrowingFile>) => async (path: string) => {
    const file = await open(path, 'ax');
    return {
      write: (bytes: Buffer, offset: number, length: number) => file.write(bytes, offset, length),
      truncate: (length: number) => file.truncate(length),
      datasync: () => file.datasync(),
      close: () => file.close(),
      ...part,
    };
  };

  it('keeps what is whole of a failed write, and names the cause after it', async () => {
    const stopped = vi.fn();
    const disk = Promise.withResolvers<void>();
    let writes = 0;
    const recorder = new LegRecorder(recordingOrder(id, { stopped }), {
      clock,
      folder,
      room,
      syncs,
      open: async (path) => {
        const opened = await failing({})(path);
        await disk.promise;
        const write = async (bytes: Buffer, offset: number, length: number) => {
          writes++;
          // After the header: a chunk and a half are written before the disk is full.
          if (writes === 2) return opened.write(bytes, offset, 12_000);
          if (writes === 3) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
          return opened.write(bytes, offset, length);
        };
        return { ...opened, write };
      },
    });
    await exchange(recorder.tap(saying(4_000)), 100, 1_000);
    disk.resolve();
    await expect.poll(() => stopped).toHaveBeenCalledTimes(1);
    await recorder.close();
    const { heard, marks, torn } = await readRecording(join(folder, `${id}.rec`));
    expect(torn).toBe(false);
    expect(heard.length).toBe(25 * 160);
    expect(marks.map((mark) => ('reason' in mark ? mark.reason : mark.what))).toEqual(['edge_disk_full']);
  });

  it('is brought to the disk a moment after it was written, and stops when that fails', async () => {
    const stopped = vi.fn();
    let synced = 0;
    const recorder = new LegRecorder(recordingOrder(id, { stopped }), {
      clock,
      folder,
      room,
      syncs,
      open: failing({
        datasync: async () => {
          synced++;
          if (synced === 2) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
        },
      }),
    });
    const end = recorder.tap(saying(4_000));
    for (const expected of [1, 2]) {
      await exchange(end, 25, 1_000);
      const passes = () => {
        clock.advance(250);
        return synced;
      };
      await expect.poll(passes, { interval: 5 }).toBeGreaterThanOrEqual(expected);
    }
    await expect.poll(() => stopped).toHaveBeenCalledTimes(1);
    expect(stopped.mock.calls[0]?.[0]).toBe('edge_disk_failed');
    await recorder.close();
  });

  it('holds a bounded amount in memory when the disk does not answer, and stops', async () => {
    const stopped = vi.fn();
    const disk = Promise.withResolvers<never>();
    const recorder = new LegRecorder(recordingOrder(id, { stopped }), {
      clock,
      folder,
      room,
      syncs,
      open: () => disk.promise,
    });
    const frames = Math.ceil(mostPendingBytes / 320) + 100;
    await exchange(recorder.tap(saying(1)), frames, 1);
    await expect.poll(() => stopped).toHaveBeenCalledTimes(1);
    expect(stopped.mock.calls[0]?.[0]).toBe('edge_disk_slow');
    disk.reject(new Error('gone'));
    await recorder.close();
  });

  it('loses at most a second by kill -9', async () => {
    const writer = join(import.meta.dirname, '../../../test/kit/programs/recording-writer.ts');
    const child = spawn(process.execPath, [writer, folder, id], { stdio: ['ignore', 'pipe', 'inherit'] });
    let frames = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      frames = Number(line);
      if (frames === 130) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const { heard } = await readRecording(join(folder, `${id}.part`));
    expect(heard.length / 160).toBeGreaterThanOrEqual(frames - 50);
  });
});

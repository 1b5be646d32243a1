import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Gate } from '#shared/models/gate.ts';
import { portPair } from '../../test/kit/edge/loopback.ts';
import { Channel } from './channel.ts';
import { RemoteGate, RemoteSpeech, serveShard } from './services.ts';

const broken = (error: Error): never => {
  throw error;
};

function scene() {
  const [ours, theirs] = portPair();
  const clock = new FakeClock();
  const gate = new Gate(1, clock);
  const synthesize = async (text: string) => Int16Array.from(text, (letter) => letter.charCodeAt(0));
  const release = serveShard(new Channel(ours, broken), { tts: { synthesize }, gate });
  const shard = new Channel(theirs, broken);
  return { clock, gate, release, speech: new RemoteSpeech(shard), remote: new RemoteGate(shard) };
}

const never = new AbortController().signal;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('what shards share', () => {
  it('speaks in the main thread', async () => {
    const { speech } = scene();
    const options = { voice: null, language: 'en-US', sampleRate: 8000 };
    expect(await speech.synthesize('Hi', options)).toEqual(Int16Array.of(72, 105));
  });

  it('counts the requests of shards and of the main thread at one gate', async () => {
    const { clock, gate, remote } = scene();
    const leave = await remote.enter(100, never);
    expect([gate.inside, leave === null]).toEqual([1, false]);
    const late = remote.enter(100, never);
    await settled();
    clock.advance(100);
    expect(await late).toBeNull();
    leave?.();
    expect(gate.inside).toBe(0);
  });

  it('gives back the places of requests that are given up, and of a shard that is gone', async () => {
    const { gate, release, remote } = scene();
    await remote.enter(100, never);
    const abort = new AbortController();
    const waiting = remote.enter(100, abort.signal);
    await settled();
    expect(gate.waiting).toBe(1);
    abort.abort(new Error('the caller spoke'));
    await expect(waiting).rejects.toThrow('the caller spoke');
    await settled();
    expect([gate.inside, gate.waiting]).toEqual([1, 0]);
    release();
    expect(gate.inside).toBe(0);
  });
});

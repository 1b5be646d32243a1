import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Gate } from '#shared/models/gate.ts';
import { SpeechError, type TextToSpeech } from '#shared/models/speech.ts';
import { portPair } from '../../test/kit/edge/loopback.ts';
import { Channel } from './channel.ts';
import { RemoteGate, RemoteSpeech, serveShard } from './services.ts';

const broken = (error: Error): never => {
  throw error;
};

/** @param stream speaks in pieces; absent: only whole texts */
function scene(stream?: TextToSpeech['stream']) {
  const [ours, theirs] = portPair();
  const clock = new FakeClock();
  const gate = new Gate(1, clock);
  const synthesize = async (text: string) => Int16Array.from(text, (letter) => letter.charCodeAt(0));
  const release = serveShard(new Channel(ours, broken), {
    tts: { synthesize, ...(stream && { stream }) },
    gate,
  });
  const shard = new Channel(theirs, broken);
  return { clock, gate, release, speech: new RemoteSpeech(shard), remote: new RemoteGate(shard) };
}

const never = new AbortController().signal;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('what shards share', () => {
  it('speaks in the main thread', async () => {
    const { speech } = scene();
    expect(await speech.synthesize('Hi', options)).toEqual(Int16Array.of(72, 105));
  });

  const options = { voice: null, language: 'en-US', sampleRate: 8000 };

  /** Makes a piece of each letter; notes how far it is, and that it was left. */
  function spelling(failsAt?: string) {
    const made: string[] = [];
    async function* stream(text: string, _: unknown, signal: AbortSignal) {
      try {
        for (const letter of text) {
          if (letter === failsAt) throw new SpeechError('no more');
          signal.throwIfAborted();
          made.push(letter);
          yield Int16Array.of(letter.charCodeAt(0));
        }
      } finally {
        made.push('left');
      }
    }
    return { made, stream };
  }

  it('speaks in pieces, each made when the one before it was taken', async () => {
    const { made, stream } = spelling();
    const pieces = scene(stream).speech.stream('Hi', options, never);
    expect((await pieces.next()).value).toEqual(Int16Array.of(72));
    await settled();
    expect(made).toEqual(['H']);
    expect((await pieces.next()).value).toEqual(Int16Array.of(105));
    expect((await pieces.next()).done).toBe(true);
    expect(made).toEqual(['H', 'i', 'left']);
  });

  it('speaks whole texts as one piece where there are no pieces', async () => {
    const pieces = scene().speech.stream('Hi', options, never);
    expect((await pieces.next()).value).toEqual(Int16Array.of(72, 105));
    expect((await pieces.next()).done).toBe(true);
  });

  it('says why a speech ends early, after the pieces before it', async () => {
    const pieces = scene(spelling('i').stream).speech.stream('Hi', options, never);
    expect((await pieces.next()).value).toEqual(Int16Array.of(72));
    await expect(pieces.next()).rejects.toThrow('no more');
  });

  it.each(['its reader leaves', 'nobody wants it any more', 'the shard is gone'])(
    'gives up a speech when %s',
    async (why) => {
      const { made, stream } = spelling();
      const { speech, release } = scene(stream);
      const wanted = new AbortController();
      const pieces = speech.stream('Hello', options, wanted.signal);
      await pieces.next();
      if (why === 'the shard is gone') release();
      else if (why === 'its reader leaves') await pieces.return(undefined);
      else wanted.abort(new Error('the caller spoke'));
      await settled();
      expect(made).toEqual(['H', 'left']);
      if (why === 'nobody wants it any more') await expect(pieces.next()).rejects.toThrow('the caller spoke');
    },
  );

  it('gives up a speech whose next piece is being waited for', async () => {
    const wait = Promise.withResolvers<void>();
    const given: unknown[] = [];
    const { speech } = scene(async function* (_text, _options, signal) {
      signal.addEventListener('abort', () => {
        given.push(signal.reason);
        wait.reject(signal.reason);
      });
      await wait.promise;
      yield new Int16Array(0);
    });
    const wanted = new AbortController();
    const next = speech.stream('Hello', options, wanted.signal).next();
    await settled();
    wanted.abort(new Error('the caller spoke'));
    await expect(next).rejects.toThrow('not wanted any more');
    expect(given).toHaveLength(1);
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

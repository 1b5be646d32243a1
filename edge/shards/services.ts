/**
 * What shards share and the main thread keeps: synthesized speech, and the number of requests to language models at
 * once.
 *
 *     agent in a shard ── RemoteSpeech, RemoteGate ══channel══> serveShard ──> text-to-speech, gate
 */
import type { RequestGate } from '#shared/models/gate.ts';
import { piecesOf, type SpeechOptions, type TextToSpeech } from '#shared/models/speech.ts';
import type { Channel } from './channel.ts';
import { toMain } from './messages.ts';

export interface SharedServices {
  readonly tts: Pick<TextToSpeech, 'synthesize' | 'stream' | 'premake'>;
  readonly gate: RequestGate;
}

/** A text that is being spoken for a shard, in pieces. */
interface OpenSpeech {
  readonly pieces: AsyncGenerator<Int16Array>;
  readonly wanted: AbortController;
}

/** Serves one shard. @returns gives back what the shard holds; to be called when it is gone */
export function serveShard(channel: Channel, { tts, gate }: SharedServices): () => void {
  const places = new Map<number, () => void>();
  const speeches = new Map<number, OpenSpeech>();
  channel.onAsk(toMain.speak, async ({ text, voice, language, sample_rate: sampleRate }) => ({
    samples: await tts.synthesize(text, { voice, language, sampleRate }),
  }));
  const nextPiece = async (id: number) => {
    const speech = speeches.get(id);
    if (!speech) throw new Error('the speech was stopped');
    try {
      const { value, done } = await speech.pieces.next();
      if (!done) return { samples: value };
      speeches.delete(id);
      return { samples: null };
    } catch (error) {
      speeches.delete(id);
      throw error;
    }
  };
  channel.onAsk(toMain.beginSpeech, ({ speech, text, voice, language, sample_rate: sampleRate }) => {
    const wanted = new AbortController();
    const pieces = piecesOf(tts, text, { voice, language, sampleRate }, wanted.signal);
    speeches.set(speech, { pieces, wanted });
    return nextPiece(speech);
  });
  channel.onAsk(toMain.nextPiece, ({ speech }) => nextPiece(speech));
  const stop = (id: number) => {
    const speech = speeches.get(id);
    speeches.delete(id);
    speech?.wanted.abort(new Error('the speech is not wanted any more'));
    // Its connection is given back. What fails on the way concerns nobody any more.
    speech?.pieces.return(undefined).catch(() => {});
  };
  channel.onTell(toMain.stopSpeech, ({ speech }) => stop(speech));
  channel.onTell(toMain.premake, ({ text, voice, language, sample_rate: sampleRate }) => {
    void tts.premake?.(text, { voice, language, sampleRate });
  });
  channel.onAsk(toMain.enterGate, async ({ place, wait_ms: waitMs }) => {
    const wait = new AbortController();
    places.set(place, () => wait.abort(new Error('the request was given up')));
    const leave = await gate.enter(waitMs, wait.signal);
    if (leave && places.has(place)) places.set(place, leave);
    else {
      leave?.();
      places.delete(place);
    }
    return { entered: leave !== null };
  });
  const leave = (place: number) => {
    const left = places.get(place);
    places.delete(place);
    left?.();
  };
  channel.onTell(toMain.leaveGate, ({ place }) => leave(place));
  return () => {
    for (const place of [...places.keys()]) leave(place);
    for (const speech of [...speeches.keys()]) stop(speech);
  };
}

/** Text-to-speech of the main thread, for a shard. The main thread warms it. */
export class RemoteSpeech implements Required<Omit<TextToSpeech, 'warm'>> {
  readonly #channel: Channel;
  #nextSpeech = 1;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  async synthesize(text: string, options: SpeechOptions): Promise<Int16Array> {
    return (await this.#channel.ask(toMain.speak, spokenOf(text, options))).samples;
  }

  async *stream(text: string, options: SpeechOptions, signal: AbortSignal): AsyncGenerator<Int16Array> {
    signal.throwIfAborted();
    const channel = this.#channel;
    const speech = this.#nextSpeech++;
    const stop = () => channel.tell(toMain.stopSpeech, { speech });
    signal.addEventListener('abort', stop, { once: true });
    let over = false;
    try {
      let { samples } = await channel.ask(toMain.beginSpeech, { speech, ...spokenOf(text, options) });
      while (samples !== null) {
        yield samples;
        signal.throwIfAborted();
        ({ samples } = await channel.ask(toMain.nextPiece, { speech }));
      }
      over = true;
    } finally {
      signal.removeEventListener('abort', stop);
      if (!over && !signal.aborted) stop();
    }
  }

  async premake(text: string, options: SpeechOptions): Promise<void> {
    this.#channel.tell(toMain.premake, spokenOf(text, options));
  }

  async close(): Promise<void> {}
}

function spokenOf(text: string, { voice, language, sampleRate }: SpeechOptions) {
  return { text, voice, language, sample_rate: sampleRate };
}

/** The gate of the main thread, for a shard; the main thread counts who is in. */
export class RemoteGate implements RequestGate {
  readonly inside = 0;
  readonly waiting = 0;
  readonly #channel: Channel;
  #nextPlace = 1;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  async enter(waitMs: number, signal: AbortSignal): Promise<(() => void) | null> {
    signal.throwIfAborted();
    const place = this.#nextPlace++;
    const leave = () => this.#channel.tell(toMain.leaveGate, { place });
    const { promise, reject } = Promise.withResolvers<never>();
    const aborted = () => {
      leave();
      reject(signal.reason);
    };
    signal.addEventListener('abort', aborted, { once: true });
    try {
      const asked = this.#channel.ask(toMain.enterGate, { place, wait_ms: waitMs });
      const { entered } = await Promise.race([asked, promise]);
      return entered ? leave : null;
    } finally {
      signal.removeEventListener('abort', aborted);
    }
  }
}

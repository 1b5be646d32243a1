/**
 * What shards share and the main thread keeps: synthesized speech, and the number of requests to language models at
 * once.
 *
 *     agent in a shard ── RemoteSpeech, RemoteGate ══channel══> serveShard ──> text-to-speech, gate
 */
import type { RequestGate } from '#shared/models/gate.ts';
import type { SpeechOptions, TextToSpeech } from '#shared/models/speech.ts';
import type { Channel } from './channel.ts';
import { toMain } from './messages.ts';

export interface SharedServices {
  readonly tts: Pick<TextToSpeech, 'synthesize'>;
  readonly gate: RequestGate;
}

/** Serves one shard. @returns gives back what the shard holds; to be called when it is gone */
export function serveShard(channel: Channel, { tts, gate }: SharedServices): () => void {
  const places = new Map<number, () => void>();
  channel.onAsk(toMain.speak, async ({ text, voice, language, sample_rate: sampleRate }) => ({
    samples: await tts.synthesize(text, { voice, language, sampleRate }),
  }));
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
  };
}

/** Text-to-speech of the main thread, for a shard. */
export class RemoteSpeech implements TextToSpeech {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  async synthesize(text: string, options: SpeechOptions): Promise<Int16Array> {
    const { voice, language, sampleRate } = options;
    const spoken = { text, voice, language, sample_rate: sampleRate };
    return (await this.#channel.ask(toMain.speak, spoken)).samples;
  }

  async close(): Promise<void> {}
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

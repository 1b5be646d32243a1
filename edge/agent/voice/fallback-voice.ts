/** A voice of a server, and the embedded one for texts that it fails to speak. */
import type { Clock } from '#shared/clock.ts';
import { embeddedVoice } from '#shared/models/flite-voices.ts';
import { joinedPieces, piecesOf, type SpeechOptions, type TextToSpeech } from '#shared/models/speech.ts';
import { longestSpeech, tooLongSpeech } from '#shared/models/speech-length.ts';
import type { Log } from '../../call/log.ts';

export interface VoiceMeter {
  /** The server failed, with or without another voice. */
  failed(fellBack: boolean): void;
  /** From the request for a text to its first sound, ms. */
  firstSound(ms: number): void;
}

/** The languages that the embedded voice can speak. */
const speaks = /^en\b/i;

export class FallbackVoice implements TextToSpeech {
  readonly #voice: TextToSpeech;
  readonly #embedded: TextToSpeech;
  readonly #meter: VoiceMeter;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(
    voice: TextToSpeech,
    embedded: TextToSpeech,
    deps: { readonly meter: VoiceMeter; readonly clock: Clock; readonly log: Log },
  ) {
    this.#voice = voice;
    this.#embedded = embedded;
    this.#meter = deps.meter;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  async synthesize(text: string, options: SpeechOptions): Promise<Int16Array> {
    const pieces: Int16Array[] = [];
    for await (const piece of this.stream(text, options, never)) pieces.push(piece);
    return joinedPieces(pieces);
  }

  /** The embedded voice says a whole text or nothing: a change in the midst of it would sound worse than its end. */
  async *stream(text: string, options: SpeechOptions, signal: AbortSignal): AsyncGenerator<Int16Array> {
    const since = this.#clock.elapsed();
    let begun = false;
    let samples = 0;
    try {
      for await (const piece of piecesOf(this.#voice, text, options, signal)) {
        // An octet is no sound yet.
        if (piece.length === 0) continue;
        samples += piece.length;
        if (samples * 1000 > longestSpeech(text) * options.sampleRate) throw tooLongSpeech(text);
        if (!begun) this.#meter.firstSound(this.#clock.elapsed() - since);
        begun = true;
        yield piece;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      const voice = options.exact ? embeddedVoice(options.voice) : null;
      const fallsBack = !begun && speaks.test(options.language) && (!options.exact || voice !== null);
      this.#meter.failed(fallsBack);
      if (!fallsBack) throw error;
      this.#log.warn({ err: error }, 'the text-to-speech server failed, the embedded voice speaks');
      yield await this.#embedded.synthesize(text, { ...options, voice }, signal);
    }
  }

  async premake(text: string, options: SpeechOptions): Promise<void> {
    await this.#voice.premake?.(text, options);
  }

  async close(): Promise<void> {
    await Promise.all([this.#voice.close(), this.#embedded.close()]);
  }
}

const never = new AbortController().signal;

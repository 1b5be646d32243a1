/** Text-to-speech over WebSocket: the sound of a text comes while the rest is made. */
import type { Clock } from '#shared/clock.ts';
import { SampleJoiner } from '#shared/models/sample-joiner.ts';
import { SoundPace } from '#shared/models/sound-pace.ts';
import { joinedPieces, SpeechError, type SpeechOptions, type TextToSpeech } from '#shared/models/speech.ts';
import { beforeWords, speechBody, withWholeHead } from '#shared/models/speech-body.ts';
import { longestSpeech, tooLongSpeech } from '#shared/models/speech-length.ts';
import { placeOf, type SpeechServer, type SpeechSocketDeps } from '../speech-socket.ts';
import { IdleConnections } from './idle-connections.ts';
import { PieceStream } from './piece-stream.ts';
import { VoiceConnection, type VoiceProtocol } from './voice-connection.ts';

/** Time for a connection to open, and then between two pieces of sound, ms: a caller is waiting. */
const openTimeoutMs = 3000;
const silenceTimeoutMs = 5000;

export class SocketVoice implements TextToSpeech {
  readonly #protocol: VoiceProtocol;
  readonly #server: SpeechServer;
  readonly #deps: SpeechSocketDeps;
  readonly #idle: IdleConnections<VoiceConnection>;

  constructor(protocol: VoiceProtocol, server: SpeechServer, deps: SpeechSocketDeps) {
    this.#protocol = protocol;
    this.#server = server;
    this.#deps = deps;
    this.#idle = new IdleConnections(deps.clock);
  }

  async synthesize(text: string, options: SpeechOptions): Promise<Int16Array> {
    const pieces: Int16Array[] = [];
    for await (const piece of this.stream(text, options, never)) pieces.push(piece);
    return joinedPieces(pieces);
  }

  /** @throws SpeechError */
  async *stream(text: string, options: SpeechOptions, signal: AbortSignal): AsyncGenerator<Int16Array> {
    const url = this.#protocol.url(this.#server, options);
    const kept = this.#idle.take(url.href);
    let begun = false;
    try {
      for await (const piece of this.#speak(text, url, options, signal, kept)) {
        begun = true;
        yield piece;
      }
    } catch (error) {
      if (!kept?.wasLost || begun || signal.aborted) throw error;
      // The server has closed a connection that was unused too long for it.
      yield* this.#speak(text, url, options, signal, null);
    }
  }

  async close(): Promise<void> {
    this.#idle.close();
  }

  /** @param kept null: a new connection */
  async *#speak(
    text: string,
    url: URL,
    options: SpeechOptions,
    signal: AbortSignal,
    kept: VoiceConnection | null,
  ): AsyncGenerator<Int16Array> {
    const place = placeOf(this.#server.url);
    const begunAt = this.#deps.clock.elapsed();
    const limit = new Deadline(this.#deps.clock, openTimeoutMs, place);
    const sound = new PieceStream<Uint8Array>();
    const abort = () => sound.fail(new SpeechError('the speech is not wanted any more'));
    const over = AbortSignal.any([signal, limit.signal]);
    over.addEventListener('abort', abort, { once: true });
    let connection = kept;
    let whole = false;
    try {
      connection ??= await VoiceConnection.open(this.#protocol, this.#server, url, this.#deps, over);
      limit.extend(silenceTimeoutMs);
      connection.speak(text, sound, {
        heard: (octets) => limit.heard((octets * 500) / options.sampleRate),
        warned: (words) => limit.warned(words),
      });
      let samples = 0;
      const joined = new SampleJoiner();
      for await (const octets of beforeWords(withWholeHead(sound))) {
        if (samples === 0 && speechBody('', octets, options.sampleRate) === 'wav')
          throw new SpeechError(`${place} sent a WAV file in place of 16-bit PCM`);
        const piece = joined.samples(octets);
        samples += piece.length;
        if (samples * 1000 > longestSpeech(text) * options.sampleRate) throw tooLongSpeech(text);
        yield piece;
      }
      if (samples === 0) throw new SpeechError(limit.worded(`${place} sent no sound`));
      whole = true;
    } catch (error) {
      if (limit.signal.aborted) {
        const why = connection?.whySilent(begunAt, limit.reason) ?? limit.reason;
        throw new SpeechError(limit.worded(why));
      }
      if (error instanceof SpeechError) throw error;
      throw new SpeechError(error instanceof Error ? error.message : String(error));
    } finally {
      over.removeEventListener('abort', abort);
      limit.stop();
      if (whole && connection?.mayGoOn) this.#idle.keep(url.href, connection);
      else connection?.close();
    }
  }
}

/** A time limit that is restarted at each sign of life, as long as the sound comes fast enough. */
class Deadline {
  readonly #clock: Clock;
  readonly #place: string;
  readonly #over = new AbortController();
  readonly #pace = new SoundPace();
  #heardAt: number;
  #warning: string | null = null;
  #timer;
  reason: string;

  constructor(clock: Clock, ms: number, place: string) {
    this.#clock = clock;
    this.#place = place;
    this.#heardAt = clock.elapsed();
    this.reason = `${place} did not open within ${ms} ms`;
    this.#timer = clock.after(ms, () => this.#over.abort());
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** @param soundMs of the sound that has come */
  heard(soundMs: number): void {
    const now = this.#clock.elapsed();
    if (this.#pace.takes(now - this.#heardAt, soundMs)) this.extend(silenceTimeoutMs);
    else {
      this.reason = `${this.#place} sends sound too slowly`;
      this.#over.abort();
    }
    this.#heardAt = now;
  }

  /** The first one counts. */
  warned(words: string): void {
    this.#warning ??= words;
  }

  worded(reason: string): string {
    return this.#warning === null ? reason : `${reason} (${this.#warning})`;
  }

  extend(ms: number): void {
    this.reason = `${this.#place} sent no sound for ${ms} ms`;
    this.#timer.cancel();
    this.#timer = this.#clock.after(ms, () => this.#over.abort());
  }

  stop(): void {
    this.#timer.cancel();
  }
}

const never = new AbortController().signal;

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type OpenAiServer, postOpenAi, refuseText, streamOpenAi } from './openai-http.ts';
import { resample, StreamResampler } from './resample.ts';
import { SampleJoiner, samplesOf } from './sample-joiner.ts';
import {
  SpeechError,
  type SpeechOptions,
  type SpeechToText,
  type TextToSpeech,
  type TranscribeOptions,
} from './speech.ts';
import { beforeWords, refuseWordsAfter, speechBody, withWholeHead } from './speech-body.ts';
import { longestSpeech, tooLongSpeech } from './speech-length.ts';
import { readWav, wavData, writeWav } from './wav.ts';

/** Octets that are converted in a turn of the event loop: audio of calls is sent by the same thread. */
const pieceOctets = 8192;

/** Text-to-speech over `POST /v1/audio/speech`, response format `pcm`: 16-bit mono at 24 kHz. */
export class OpenAiTextToSpeech implements TextToSpeech {
  readonly #server: OpenAiServer;
  readonly #voice: string;
  readonly #pcmRate: number;

  /**
   * @param options.voice default voice of calls
   * @param options.pcmRate Hz of the server's `pcm` format. Default 24000.
   */
  constructor(server: OpenAiServer, options: { readonly voice: string; readonly pcmRate?: number }) {
    this.#server = server;
    this.#voice = options.voice;
    this.#pcmRate = options.pcmRate ?? 24_000;
  }

  async synthesize(text: string, options: SpeechOptions): Promise<Int16Array> {
    const request = this.#request(text, options);
    const { bytes, type, cut } = await postOpenAi(
      this.#server,
      'audio/speech',
      () => request,
      longestBody(text),
    );
    if (cut) throw tooLongSpeech(text);
    refuseText(type, bytes);
    // Some servers send a WAV file whatever format was requested; its header has the rate.
    const body = speechBody(type, bytes, this.#pcmRate);
    const pcm = body === 'wav' ? readWav(bytes) : { samples: samplesOf(bytes), sampleRate: body };
    if (pcm.samples.length === 0) throw withoutAudio();
    if (isTooLong(text, pcm)) throw tooLongSpeech(text);
    refuseWordsAfter(body === 'wav' ? wavData(bytes).octets : bytes);
    return resample(pcm.samples, pcm.sampleRate, options.sampleRate);
  }

  /** @throws SpeechError */
  async *stream(text: string, options: SpeechOptions, signal: AbortSignal): AsyncGenerator<Int16Array> {
    const bytesPerMs = (2 * this.#pcmRate) / 1000;
    const body = this.#request(text, options);
    let type = '';
    const hasType = (told: string) => {
      type = told;
    };
    const answer = streamOpenAi(this.#server, 'audio/speech', body, { bytesPerMs, signal, hasType });
    const chunks = beforeWords(withWholeHead(answer));
    const joiner = new SampleJoiner();
    let resampler: StreamResampler | null = null;
    let samples = 0;
    let sampleRate = this.#pcmRate;
    for await (const chunk of chunks) {
      if (!resampler) {
        const format = speechBody(type, chunk, this.#pcmRate);
        // A WAV file in place of `pcm`: its head is not sound.
        if (format === 'wav') {
          yield await this.#wav(text, chunk, chunks, options);
          return;
        }
        sampleRate = format;
        resampler = new StreamResampler(sampleRate, options.sampleRate);
      }
      for (let at = 0; at < chunk.length; at += pieceOctets) {
        if (samples > 0) await nextTurn();
        const piece = joiner.samples(chunk.subarray(at, at + pieceOctets));
        samples += piece.length;
        if (isTooLong(text, { samples: { length: samples }, sampleRate })) throw tooLongSpeech(text);
        yield resampler.push(piece);
      }
    }
    if (!resampler || samples === 0) throw withoutAudio();
    yield resampler.flush();
  }

  async close(): Promise<void> {}

  #request(text: string, { voice }: SpeechOptions): string {
    return JSON.stringify({
      model: this.#server.model,
      input: text,
      voice: voice ?? this.#voice,
      response_format: 'pcm',
    });
  }

  async #wav(
    text: string,
    first: Uint8Array,
    rest: AsyncIterable<Uint8Array>,
    options: SpeechOptions,
  ): Promise<Int16Array> {
    const chunks = [first];
    let size = first.length;
    for await (const chunk of rest) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > longestBody(text)) throw tooLongSpeech(text);
    }
    const file = Buffer.concat(chunks);
    const pcm = readWav(file);
    if (pcm.samples.length === 0) throw withoutAudio();
    if (isTooLong(text, pcm)) throw tooLongSpeech(text);
    refuseWordsAfter(wavData(file).octets);
    return resample(pcm.samples, pcm.sampleRate, options.sampleRate);
  }
}

/** Octets of a body that may hold speech of the longest length: two channels at 48 kHz. */
const longestBody = (text: string) => (longestSpeech(text) * 48_000 * 4) / 1000;

/** Told before it is converted, which costs far more than to read it. */
function isTooLong(
  text: string,
  { samples, sampleRate }: { samples: { length: number }; sampleRate: number },
) {
  return samples.length * 1000 > longestSpeech(text) * sampleRate;
}

const withoutAudio = () => new SpeechError('the speech server answered without audio');

/** Speech-to-text over `POST /v1/audio/transcriptions` with a WAV file. */
export class OpenAiSpeechToText implements SpeechToText {
  readonly #server: OpenAiServer;

  constructor(server: OpenAiServer) {
    this.#server = server;
  }

  async transcribe(samples: Int16Array, options: TranscribeOptions): Promise<string> {
    const wav = writeWav({ samples, sampleRate: options.sampleRate });
    const { bytes } = await postOpenAi(this.#server, 'audio/transcriptions', () => {
      const form = new FormData();
      form.set('model', this.#server.model);
      form.set('language', options.language.split('-')[0] ?? 'en');
      form.set('response_format', 'json');
      if (options.keyTerms?.length) form.set('prompt', options.keyTerms.join(', '));
      form.set('file', new Blob([wav], { type: 'audio/wav' }), 'speech.wav');
      return form;
    });
    return transcriptOf(new TextDecoder().decode(bytes));
  }
}

function transcriptOf(body: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    throw new SpeechError('the transcription server did not answer JSON');
  }
  if (typeof answer === 'object' && answer !== null && 'text' in answer && typeof answer.text === 'string') {
    return answer.text.trim();
  }
  throw new SpeechError('the transcription server answered without "text"');
}

/**
 * Deepgram's live transcription, `/v1/listen`: audio as binary messages, words by time of the audio. The words of a
 * turn come as `Results` that are final up to their end; `Finalize` asks for the rest.
 */
import { fits, flag, listOf, number, objectOf, oneOf, type Shaped, text } from '#shared/shapes.ts';
import { withParameters } from '../speech-socket.ts';
import { DeepgramSession } from './deepgram-session.ts';
import type { SessionEvents, SocketProtocol } from './socket-provider.ts';
import type { HeardWords } from './transcription.ts';

const alternative = objectOf(
  {},
  {
    transcript: text,
    confidence: number,
    languages: listOf(text),
    words: listOf(objectOf({}, { start: number }, true)),
  },
  true,
);

const results = objectOf(
  {
    type: oneOf('Results'),
    /** seconds */
    start: number,
    duration: number,
    channel: objectOf({}, { alternatives: listOf(alternative) }, true),
  },
  { is_final: flag, speech_final: flag, from_finalize: flag },
  true,
);

const other = objectOf({ type: text }, { description: text, message: text }, true);

export const deepgram: SocketProtocol = {
  continuous: true,
  pieceMs: 40,
  finalWithinMs: 1500,
  url: ({ url, model }, { sampleRate, language, keyTerms }) =>
    withParameters(
      url,
      {
        model,
        language,
        interim_results: 'true',
        punctuate: 'true',
        vad_events: 'true',
        endpointing: '300',
        utterance_end_ms: '1000',
        // Older models know `keywords` only.
        [model.startsWith('nova-3') ? 'keyterm' : 'keywords']: keyTerms,
      },
      { encoding: 'linear16', sample_rate: String(sampleRate), channels: '1' },
    ),
  headers: (apiKey) => ({ authorization: `Token ${apiKey}` }),
  session: (_server, { sampleRate }) => new ListenSession(sampleRate),
};

class ListenSession extends DeepgramSession {
  readonly keepAlive = JSON.stringify({ type: 'KeepAlive' });

  constructor(sampleRate: number) {
    super(sampleRate, 'Finalize');
  }

  isInterim(message: string): boolean {
    return /"is_final"\s*:\s*false/.test(message);
  }

  receive(message: unknown, events: SessionEvents): void {
    if (fits(results, message)) {
      this.#results(message, events);
      return;
    }
    if (!fits(other, message)) return;
    if (message.type === 'SpeechStarted') events.turn('started');
    else if (message.type === 'UtteranceEnd') events.turn('ended');
    else if (message.type === 'Error') events.failed(message.description ?? message.message ?? 'no reason');
  }

  #results(message: Shaped<typeof results>, events: SessionEvents): void {
    const [best] = message.channel.alternatives ?? [];
    const throughMs = (message.start + message.duration) * 1000;
    const words: HeardWords = {
      text: best?.transcript?.trim() ?? '',
      confidence: best?.confidence ?? null,
      language: best?.languages?.[0] ?? null,
    };
    // All words before these are final.
    const fromMs = words.text === '' ? throughMs : (best?.words?.[0]?.start ?? message.start) * 1000;
    this.#over(this.asked.passed(fromMs), events);
    if (!message.is_final) {
      events.partial(words);
      return;
    }
    events.settled(words, throughMs);
    const end = this.asked.reached(throughMs);
    if (message.from_finalize) events.finished(throughMs);
    else this.#over(end, events);
    // A short silence, whatever the words are.
    if (message.speech_final) events.turn('likely_ended');
  }

  /** @param end whose words are all final, although it had no answer; null: none */
  #over(end: number | null, events: SessionEvents): void {
    if (end !== null) events.finished(end);
  }
}

/**
 * Deepgram Flux, `/v2/listen`: a model that knows the caller's turns. `TurnInfo` has all words of a turn so far;
 * `ForceEndTurn` ends one before the model does.
 */
import { fits, listOf, number, objectOf, oneOf, type Shaped, text } from '#shared/shapes.ts';
import { withParameters } from '../speech-socket.ts';
import { DeepgramSession } from './deepgram-session.ts';
import type { SessionEvents, SocketProtocol } from './socket-provider.ts';
import { noWords } from './transcription.ts';

const turnInfo = objectOf(
  {
    type: oneOf('TurnInfo'),
    event: text,
    /** seconds */
    audio_window_end: number,
  },
  { transcript: text, words: listOf(objectOf({}, { confidence: number }, true)), languages: listOf(text) },
  true,
);

const failure = objectOf({ type: oneOf('Error') }, { code: text, description: text }, true);

export const deepgramFlux: SocketProtocol = {
  continuous: true,
  // Its makers recommend this length.
  pieceMs: 80,
  finalWithinMs: 1500,
  url: ({ url, model }, { sampleRate, language, keyTerms }) =>
    withParameters(
      url,
      {
        model,
        eager_eot_threshold: '0.5',
        keyterm: keyTerms,
        ...(model.endsWith('-multi') && { language_hint: language.split('-')[0] ?? language }),
      },
      { encoding: 'linear16', sample_rate: String(sampleRate) },
    ),
  headers: (apiKey) => ({ authorization: `Token ${apiKey}` }),
  session: (_server, { sampleRate }) => new FluxSession(sampleRate),
};

class FluxSession extends DeepgramSession {
  readonly keepAlive = null;

  constructor(sampleRate: number) {
    super(sampleRate, 'ForceEndTurn');
  }

  isInterim(message: string): boolean {
    return /"event"\s*:\s*"Update"/.test(message);
  }

  receive(message: unknown, events: SessionEvents): void {
    if (fits(turnInfo, message)) this.#turnInfo(message, events);
    else if (fits(failure, message))
      events.failed([message.code, message.description].filter(Boolean).join(' ') || 'no reason');
  }

  #turnInfo(message: Shaped<typeof turnInfo>, events: SessionEvents): void {
    const throughMs = message.audio_window_end * 1000;
    const confidences = (message.words ?? []).flatMap(({ confidence = [] }) => confidence);
    const words = {
      text: message.transcript?.trim() ?? '',
      confidence: confidences.length === 0 ? null : Math.min(...confidences),
      language: message.languages?.[0] ?? null,
    };
    const isEmpty = words.text === '';
    if (message.event === 'EndOfTurn') {
      this.asked.reached(throughMs);
      events.settled(words, throughMs);
      events.finished(throughMs);
      events.turn('ended');
      return;
    }
    // Between turns the words are empty, and the silence is done with.
    if (isEmpty) events.settled(noWords, throughMs);
    if (isEmpty || message.event === 'StartOfTurn') this.#withoutTurn(throughMs, events);
    switch (message.event) {
      case 'StartOfTurn':
        events.turn('started');
        break;
      case 'EagerEndOfTurn':
        events.turn('likely_ended');
        break;
      case 'TurnResumed':
        events.turn('resumed');
        break;
    }
    if (!isEmpty) events.partial(words);
  }

  /** What was to end before has no words. */
  #withoutTurn(throughMs: number, events: SessionEvents): void {
    const forced = this.asked.passed(throughMs);
    if (forced !== null) events.finished(forced);
  }
}

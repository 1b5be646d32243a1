/**
 * Deepgram Flux, `/v2/listen`: a model that knows the caller's turns. `TurnInfo` has all words of a turn so far;
 * `ForceEndTurn` ends one before the model does.
 */
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { withParameters } from '../speech-socket.ts';
import { linear16, type ProtocolSession, type SocketProtocol } from './socket-provider.ts';
import { noWords } from './transcription.ts';

const TurnInfo = Type.Object({
  type: Type.Literal('TurnInfo'),
  event: Type.String(),
  transcript: Type.String(),
  /** seconds */
  audio_window_end: Type.Number(),
  words: Type.Array(Type.Object({ confidence: Type.Number() })),
  languages: Type.Optional(Type.Array(Type.String())),
});

const Failure = Type.Object({
  type: Type.Literal('Error'),
  code: Type.String(),
  description: Type.String(),
});

export const deepgramFlux: SocketProtocol = {
  continuous: true,
  // Its makers recommend this length.
  pieceMs: 80,
  finalWithinMs: 1500,
  url: ({ url, model }, { sampleRate, language, keyTerms }) =>
    withParameters(url, {
      model,
      encoding: 'linear16',
      sample_rate: String(sampleRate),
      eager_eot_threshold: '0.5',
      keyterm: keyTerms,
      ...(model.endsWith('-multi') && { language_hint: language.split('-')[0] ?? language }),
    }),
  headers: (apiKey) => ({ authorization: `Token ${apiKey}` }),
  session: () => session,
};

const session: ProtocolSession = {
  hello: null,
  waitsForReady: false,
  keepAlive: null,
  goodbye: JSON.stringify({ type: 'CloseStream' }),
  audio: linear16,
  end: () => JSON.stringify({ type: 'ForceEndTurn' }),
  receive(message, events) {
    if (Value.Check(Failure, message)) {
      events.failed(`${message.code} ${message.description}`);
      return;
    }
    if (!Value.Check(TurnInfo, message)) return;
    const throughMs = message.audio_window_end * 1000;
    const confidences = message.words.map(({ confidence }) => confidence);
    const words = {
      text: message.transcript.trim(),
      confidence: confidences.length === 0 ? null : Math.min(...confidences),
      language: message.languages?.[0] ?? null,
    };
    switch (message.event) {
      case 'EndOfTurn':
        events.settled(words, throughMs);
        events.finished(throughMs);
        events.turn('ended');
        return;
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
    // Between turns the words are empty, and the silence is done with.
    if (words.text === '') events.settled(noWords, throughMs);
    else events.partial(words);
  },
};

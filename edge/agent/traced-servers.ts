/** The servers of models and speech of one call, whose requests are spans of its trace. No words are in them. */

import type { Models } from '#shared/models/models.ts';
import type { SpeechOptions, SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { modelTrace } from '#shared/models/traced-models.ts';
import { beginOfCall, idsOfCall, type OpenSpan, type Tracing } from '#shared/tracing/tracing.ts';
import type { CallFacts } from '../call/ports/agents.ts';
import type { Transcriber } from './transcription/transcription.ts';
import type { WebhookClient } from './webhook-client.ts';

export interface Servers {
  readonly models: Pick<Models, 'agent'> & Partial<Pick<Models, 'traced' | 'counted'>>;
  readonly tts: TextToSpeech;
  /** null: calls are driven by key presses */
  readonly stt: SpeechToText | null;
  /** See TalkingDeps. */
  readonly transcriber?: Transcriber | undefined;
  readonly webhook: WebhookClient;
}
type Begin = (name: string) => OpenSpan;

export function tracedServers(
  { models, tts, stt, transcriber, webhook }: Servers,
  { callId, orgId }: Pick<CallFacts, 'callId' | 'orgId'>,
  tracing: Tracing,
): Servers {
  const parent = idsOfCall(callId);
  const ofCall = { 'trunkline.call_id': callId, 'trunkline.org_id': orgId };
  const begin: Begin = (name) => beginOfCall(tracing, name, { callId, orgId });
  return {
    webhook: tracedWebhook(webhook, begin),
    models: models.traced?.(modelTrace(tracing, ofCall, () => parent)) ?? models,
    tts: tracedVoice(tts, begin),
    stt: stt && tracedWords(stt, begin),
    transcriber: transcriber && tracedTranscriber(transcriber, begin),
  };
}

/** Runs `work` within a span. */
async function within<T>(span: OpenSpan, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end({}, null);
    return result;
  } catch (error) {
    span.end({}, nameOf(error));
    throw error;
  }
}

/** Messages may have words of the call. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'error';
}

/** The request of a Webhook node. */
function tracedWebhook(webhook: WebhookClient, begin: Begin): WebhookClient {
  return async (request, nodeId) => {
    const span = begin('webhook request');
    const result = await webhook(request, nodeId);
    const status = result.status === null ? {} : { 'http.response.status_code': result.status };
    span.end(status, result.error === null ? null : 'failed');
    return result;
  };
}

function tracedVoice(tts: TextToSpeech, begin: Begin): TextToSpeech {
  const name = 'text-to-speech';
  const { stream } = tts;
  return {
    synthesize: (text, options) => within(begin(name), () => tts.synthesize(text, options)),
    ...(stream && {
      stream: (text: string, options: SpeechOptions, signal: AbortSignal) =>
        tracedPieces(() => stream.call(tts, text, options, signal), begin, name),
    }),
    ...(tts.premake && { premake: tts.premake.bind(tts) }),
    ...(tts.warm && { warm: tts.warm.bind(tts) }),
    close: () => tts.close(),
  };
}

/** The span ends with the last piece, or when nobody wants the rest. */
async function* tracedPieces(
  pieces: () => AsyncIterable<Int16Array>,
  begin: Begin,
  name: string,
): AsyncGenerator<Int16Array> {
  const span = begin(name);
  let error: string | null = null;
  try {
    yield* pieces();
  } catch (thrown) {
    error = nameOf(thrown);
    throw thrown;
  } finally {
    span.end({}, error);
  }
}

function tracedWords(stt: SpeechToText, begin: Begin): SpeechToText {
  return {
    transcribe: (samples, options) => within(begin('speech-to-text'), () => stt.transcribe(samples, options)),
  };
}

/** A span for each turn: from its end to its words. */
function tracedTranscriber(transcriber: Transcriber, begin: Begin): Transcriber {
  return {
    open(options, events) {
      const turns: OpenSpan[] = [];
      let lost = false;
      const transcription = transcriber.open(options, {
        ...events,
        final: (words) => {
          turns.shift()?.end({}, lost ? 'lost' : null);
          lost = false;
          events.final(words);
        },
        failed: (error) => {
          lost = true;
          events.failed(error);
        },
      });
      return {
        write: (frame) => transcription.write(frame),
        begin: (lateMs) => transcription.begin(lateMs),
        end: () => {
          turns.push(begin('speech-to-text'));
          transcription.end();
        },
        close: () => {
          for (const turn of turns.splice(0)) turn.end({}, 'closed');
          transcription.close();
        },
      };
    },
  };
}

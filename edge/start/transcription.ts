/** Creates what transcribes callers, from the servers of the settings. */
import { OpenAiSpeechToText } from '#shared/models/openai-speech.ts';
import type { SpeechToText } from '#shared/models/speech.ts';
import { withTrustedAuthorities } from '#shared/trusted-authorities.ts';
import type { SpeechSocketDeps } from '../agent/speech-socket.ts';
import { deepgram } from '../agent/transcription/deepgram.ts';
import { deepgramFlux } from '../agent/transcription/deepgram-flux.ts';
import { type TranscriptionMeter, transcriptionLimits } from '../agent/transcription/live-deps.ts';
import { openAiRealtime } from '../agent/transcription/openai-realtime.ts';
import type { TranscriptionProvider } from '../agent/transcription/provider.ts';
import { ProviderChoice } from '../agent/transcription/provider-choice.ts';
import { socketProvider } from '../agent/transcription/socket-provider.ts';
import { createTranscriber, wholeUtterances } from '../agent/transcription/transcriber.ts';
import type { Transcriber } from '../agent/transcription/transcription.ts';
import { utteranceProvider } from '../agent/transcription/utterances.ts';
import type { Metrics } from '../metrics.ts';
import type { TranscriptionServer } from '../speech-settings.ts';
import { clock, type EdgeContext } from './context.ts';

/** Audio of one turn of an agent under test, seconds: longer than `maxTurnSeconds` of its caller. */
const wholeSeconds = 125;

interface Transcription {
  /** For whole utterances; null: there is no server. */
  readonly stt: SpeechToText | null;
  /** undefined: there is no server, or the first one knows whole utterances only */
  readonly transcriber: Transcriber | undefined;
}

export function transcriptionOf({
  settings,
  log,
  metrics,
  privateAuthority,
}: Pick<EdgeContext, 'log' | 'metrics' | 'privateAuthority'> & {
  readonly settings: Pick<EdgeContext['settings'], 'stt'>;
}): Transcription {
  const ca = privateAuthority === null ? undefined : withTrustedAuthorities([privateAuthority]);
  const held = () => metrics.count('trunkline_edge_servers_held_total');
  const [first, ...others] = settings.stt.map((server) => providerOf(server, { clock, ca, held }));
  const [best] = settings.stt;
  if (!first || !best) return { stt: null, transcriber: undefined };
  const isLive = best.protocol !== 'utterances';
  if (others.length === 0 && !isLive) return { stt: utteranceClient(best), transcriber: undefined };
  const deps = {
    choice: new ProviderChoice([first, ...others], clock),
    clock,
    log: log.child({ part: 'transcription' }),
    meter: meterOf(metrics),
    limits: transcriptionLimits,
  };
  const whole = createTranscriber({
    ...deps,
    limits: { ...transcriptionLimits, maxKeptSeconds: wholeSeconds },
  });
  return { stt: wholeUtterances(whole), transcriber: isLive ? createTranscriber(deps) : undefined };
}

function providerOf(server: TranscriptionServer, deps: SpeechSocketDeps): TranscriptionProvider {
  switch (server.protocol) {
    case 'utterances':
      return utteranceProvider(utteranceClient(server), server.url.host);
    case 'deepgram':
      return socketProvider(deepgram, server, deps);
    case 'deepgram-flux':
      return socketProvider(deepgramFlux, server, deps);
    case 'openai-realtime':
      return socketProvider(openAiRealtime, server, deps);
  }
}

function utteranceClient({ url, apiKey, model }: TranscriptionServer): SpeechToText {
  return new OpenAiSpeechToText({ baseUrl: url.href, apiKey, model });
}

function meterOf(metrics: Metrics): TranscriptionMeter {
  const name = 'trunkline_edge_transcription';
  return {
    count: (what) => metrics.add(`${name}_${what}_total`, 1),
    took: (what, ms) => {
      metrics.add(`${name}_${what}_ms_sum`, Math.round(ms));
      metrics.add(`${name}_${what}_ms_count`, 1);
    },
  };
}

/** What a talking agent needs from the rest of the edge. */
import type { Action, Talk } from '#shared/agent/conversation.ts';
import type { ToolResult } from '#shared/agent/interfaces.ts';
import type { Pronouncer } from '#shared/agent/pronunciation.ts';
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import type { Log } from '../call/log.ts';
import type { VoiceDetectors } from './ears/voice-detector.ts';
import type { OpenModel } from './realtime/hand-over.ts';
import type { TalkLimits } from './talk-limits.ts';
import type { Transcriber } from './transcription/transcription.ts';
import type { TurnTimes } from './turn-times.ts';
import type { WebhookClient } from './webhook-client.ts';

export type ToolAction = Extract<Action, { type: 'tool' }>;

export interface TalkingDeps {
  readonly tts: TextToSpeech;
  /** null: the call is driven by key presses */
  readonly stt: SpeechToText | null;
  /** Tells words while the caller speaks; absent: `stt` gets whole utterances. */
  readonly transcriber?: Transcriber | undefined;
  /** Names and words that the caller is likely to say. */
  readonly keyTerms: readonly string[];
  readonly voices: VoiceDetectors;
  readonly webhook: WebhookClient;
  /** Runs a tool; errors are part of the result. Rejects only when the signal is aborted. */
  readonly tool: (action: ToolAction, signal: AbortSignal) => Promise<ToolResult>;
  /** For Realtime nodes; absent: the organization has no connection. */
  readonly realtime?: OpenModel | undefined;
  /** Absent: texts are spoken as they are written. */
  readonly pronouncer?: Pronouncer | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  /** Of the agent's audio, Hz. */
  readonly sampleRate: 8000 | 16000;
  readonly limits: TalkLimits;
  /** Told of what happens in each turn; absent: nobody wants to know. */
  readonly times?: TurnTimes | undefined;
  /** Called with the conversation after each step; for tests of the agent. */
  readonly watched?: ((talk: Talk) => void) | undefined;
  /** A text was stopped before its end. @param id of its transcript entry @param heard its words that were played */
  readonly cutOff?: ((id: string, heard: string) => void) | undefined;
}

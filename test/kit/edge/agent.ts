/** Shared by tests of agents: a recording host, plain settings, a voice whose speech is easy to count. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { Models } from '#shared/models/models.ts';
import { ruleDialogue } from '#shared/models/rule-dialogue.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import type { Log } from '../../../edge/call/log.ts';
import type { AgentHost, CallFacts } from '../../../edge/call/ports/agents.ts';
import type { AudioEndpoint } from '../../../edge/call/ports/media.ts';
import type { ByeExtras } from '../../../edge/call/ports/signaling.ts';
import type { TransferOrder, TransferOutcome } from '../../../edge/call/ports/transfer.ts';

export class RecordingHost implements AgentHost {
  /** Whether the call is recorded. */
  isRecorded = false;
  readonly recordingSteps: string[] = [];
  readonly entries: TranscriptEntry[] = [];
  readonly hangups: string[] = [];
  /** For BYEs. */
  readonly byes: ByeExtras[] = [];
  readonly failures: Error[] = [];
  readonly keysSent: string[] = [];
  readonly transfers: TransferOrder[] = [];
  readonly answerers: string[] = [];
  joins = 0;
  /** Whether the call has telephone-event. */
  keys = true;
  /** Outcome of the next transfer; a promise when the test needs it to wait. */
  outcome: TransferOutcome | Promise<TransferOutcome> = { ok: true };
  learned: CallVariables = {};

  hangup(reason: string, extras?: ByeExtras): void {
    this.hangups.push(reason);
    if (extras) this.byes.push(extras);
  }
  async sendDtmf(digits: string): Promise<void> {
    if (!this.keys) throw new Error('the peer does not support telephone-event');
    this.keysSent.push(digits);
  }
  keysPossible(): boolean {
    return this.keys;
  }
  /** A line that is reported again replaces the former one; without words it is withdrawn. */
  transcript(entry: TranscriptEntry): void {
    const before = this.entries.findIndex(({ id }) => id === entry.id);
    if (before < 0) this.entries.push(entry);
    else this.entries.splice(before, 1, ...(entry.text === '' ? [] : [entry]));
  }
  variables(values: CallVariables): void {
    this.learned = values;
  }
  async transfer(order: TransferOrder): Promise<TransferOutcome> {
    this.transfers.push(order);
    return this.outcome;
  }
  recording(step: 'pause' | 'resume'): boolean {
    if (this.isRecorded) this.recordingSteps.push(step);
    return this.isRecorded;
  }

  join(): void {
    this.joins++;
  }
  answeredBy(who: 'human' | 'voicemail' | 'unknown'): void {
    this.answerers.push(who);
  }
  fail(error: Error): void {
    this.failures.push(error);
  }

  /** `assistant: text` and so on, for the given speakers. */
  lines(...users: TranscriptEntry['user'][]): string[] {
    return this.entries
      .filter(({ user }) => users.includes(user))
      .map(({ user, text }) => `${user}: ${text}`);
  }
}

/** Records what an agent logs: warnings and errors, and messages at level info. */
export class RecordingLog implements Log {
  readonly warnings: { fields: object; message: string }[] = [];
  readonly infos: string[] = [];
  debug(): void {}
  info(_fields: object, message: string): void {
    this.infos.push(message);
  }
  warn(fields: object, message: string): void {
    this.warnings.push({ fields, message });
  }
  error(fields: object, message: string): void {
    this.warnings.push({ fields, message });
  }
  child(): Log {
    return this;
  }
}

export const call: CallFacts = {
  callId: '11111111-1111-4111-8111-111111111111',
  orgId: '22222222-2222-4222-8222-222222222222',
  trunkId: '33333333-3333-4333-8333-333333333333',
  sipCallId: 'abc@pbx',
  direction: 'inbound',
  from: '+14155550101',
  to: '+14155550100',
  variables: { 'sip_header_x-plan': 'gold', tries: 3 },
};

export const manner = {
  first_sentence: null,
  wait_for_greeting: false,
  block_interruptions: false,
  ignore_button_press: false,
  voice: null,
  language: 'en-US',
  interruption_threshold: 500,
  timezone: 'UTC',
  max_duration: 30,
  request_data: {},
  fallback_number: null,
} satisfies Partial<AgentSettings>;

/** No language model is configured. */
export const ruleModels: Pick<Models, 'agent'> = {
  agent: () => ({ understanding: ruleEngine, dialogue: ruleDialogue }),
};

/** A persona without tools and transfers. */
export const ada = {
  kind: 'persona',
  persona_id: '44444444-4444-4444-8444-444444444444',
  persona_version: 3,
  name: 'Ada',
  role: '',
  orchestration_prompt: 'Help with orders.',
  personality_prompt: 'Be warm.',
  pathway_conditions: [],
  ...manner,
  first_sentence: 'Hello.',
  transfer_list: {},
  tools: [],
} satisfies AgentSettings;

/** Says one 20 ms frame per character, each sample 1000. */
export const countingVoice: TextToSpeech = {
  synthesize: async (text, { sampleRate }) => new Int16Array(text.length * (sampleRate / 50)).fill(1000),
  close: async () => undefined,
};

/** Lets everything proceed that waits for promises, files and sockets of this process. */
export async function settle(turns = 3): Promise<void> {
  for (let i = 0; i < turns; i++) await nextTurn();
}

/** Reads up to `count` frames like the media clock. Returns how many of them held audio. */
export async function takeFrames(endpoint: AudioEndpoint, count: number): Promise<number> {
  const frame = new Int16Array(endpoint.sampleRate / 50);
  let loud = 0;
  for (let i = 0; i < count; i++) {
    if (endpoint.read(frame)) loud++;
    await settle(1);
  }
  await settle();
  return loud;
}

/**
 * The simulated caller's input and output. Its decisions are made elsewhere: it takes orders, carries them out, listens
 * to the agent's response, and reports when it is the caller's turn again.
 *
 *     [ listening ] --agent has spoken, or silence for too long--> [ waiting ] --order--> [ acting ]
 *           ^                                                                                 |
 *           +---------------------------------------------------------------------------------+
 */

import type { AgentTestOrder, HeardTurn } from '#shared/agent-test-protocol.ts';
import type { Clock } from '#shared/clock.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import type { Log } from '../../call/log.ts';
import type { AgentHost, AgentLeg } from '../../call/ports/agents.ts';
import type { VoiceDetectors } from '../ears/voice-detector.ts';
import type { TestCallerLimits } from '../limits.ts';
import { PlayQueue } from '../play-queue.ts';
import { Recording } from '../recording.ts';
import { AgentVoice } from './agent-voice.ts';
import { type CallerVoice, callerRate, callerSpeech } from './caller-speech.ts';
import { TurnMeter } from './turn-meter.ts';

/** What started the caller's turn. */
export type TurnEnd = 'silence' | 'patience' | 'interruption' | 'call_end';

export interface TestCallerParts extends CallerVoice {
  readonly host: Pick<AgentHost, 'hangup' | 'sendDtmf' | 'fail'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly tts: TextToSpeech;
  /** null: the agent's words come from its own account only */
  readonly stt: SpeechToText | null;
  /** Tells the agent's voice from other sounds. */
  readonly voices: VoiceDetectors;
  readonly limits: TestCallerLimits;
  /** ms of the agent's first words after which the caller interrupts; null: it does not */
  readonly interruptAfterMs: number | null;
  /** Whether the agent is busy with a webhook or tool and may speak any moment. */
  readonly agentIsBusy: () => boolean;
  /** Whether the agent plays something by its own account, false where that is not known. */
  readonly agentSounds: () => boolean;
  readonly answered: () => void;
  /** It is the caller's turn, or the call is over. */
  readonly turn: (heard: HeardTurn, last: boolean) => void;
  /** The caller starts its move. */
  readonly moved: () => void;
  /** Called at the end of each turn with its cause, and whether it was too long to transcribe in full. */
  readonly turnEnded: (by: TurnEnd, cut: boolean) => void;
}

type Move = Extract<AgentTestOrder, { type: 'say' | 'keys' | 'silence' }>;

const sampleRate = callerRate;
/** Maximum length of the caller's own speech. */
const maxSpeechSeconds = 600;

export class TestCaller implements AgentLeg {
  readonly sampleRate = sampleRate;
  readonly #parts: TestCallerParts;
  readonly #queue = new PlayQueue(sampleRate * maxSpeechSeconds);
  /** The agent's audio in one turn; null: no transcription. */
  readonly #heard: Recording | null;
  #cut = false;
  readonly #agentVoice: AgentVoice;
  #meter: TurnMeter | null = null;
  #state: 'idle' | 'listening' | 'waiting' | 'acting' | 'closed' = 'idle';
  #listeningSince = 0;
  /** When the agent was last busy, or in the midst of its words: more of them follow. */
  #busyAt = 0;
  #interruptAfterMs: number | null;
  /** Reports turns in order, even when transcription is slow. */
  #delivered: Promise<void> = Promise.resolve();
  /** All keys sent, move by move. */
  readonly keysSent: string[] = [];

  constructor(parts: TestCallerParts) {
    this.#parts = parts;
    this.#interruptAfterMs = parts.interruptAfterMs;
    this.#agentVoice = new AgentVoice(parts.voices, (voice, at) => this.#meter?.heard(voice, at));
    this.#heard = parts.stt ? new Recording(sampleRate * parts.limits.maxTurnSeconds) : null;
  }

  /** Rejects when voices cannot be detected. */
  prepare(): Promise<void> {
    return this.#agentVoice.prepare();
  }

  start(): void {
    const now = this.#parts.clock.elapsed();
    this.#meter = new TurnMeter(now);
    this.#parts.answered();
    this.#listen(now);
  }

  read(frame: Int16Array): boolean {
    if (this.#state === 'listening') this.#look(this.#parts.clock.elapsed());
    return this.#queue.read(frame);
  }

  write(frame: Int16Array): void {
    if (this.#state === 'closed') return;
    if (this.#meter) this.#agentVoice.write(frame, this.#parts.clock.elapsed());
    if (this.#heard?.append(frame) === false) this.#cut = true;
  }

  /** The agent reports that it starts to speak. */
  agentBegins(): void {
    this.#agentVoice.moment(() => this.#meter?.agentBegins());
  }

  /** Makes the caller's move. A move out of turn is ignored. */
  move(move: Move): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'acting';
    this.#parts.moved();
    this.#interruptAfterMs = move.interrupt_after_ms;
    this.#act(move).catch((error: unknown) => {
      this.#parts.host.fail(error instanceof Error ? error : new Error(String(error)));
    });
  }

  hangUp(reason: string): void {
    this.#parts.host.hangup(reason);
  }

  /** Reports the turn in progress. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#agentVoice.close();
    if (this.#state === 'listening') this.#endTurn('call_end');
    this.#state = 'closed';
    this.#queue.clear();
  }

  /** Resolves when all turns are reported. */
  done(): Promise<void> {
    return this.#delivered;
  }

  // ---------------------------------------------------------------- acting

  async #act(move: Move): Promise<void> {
    if (move.type === 'say') await this.#say(move.text);
    else if (move.type === 'keys') await this.#press(move.keys);
    const now = this.#parts.clock.elapsed();
    this.#agentVoice.moment(() => this.#meter?.callerEnds(now));
    if (this.#state === 'acting') this.#listen(now);
  }

  #begin(now: number, speaks: boolean): void {
    this.#agentVoice.moment(() => this.#meter?.callerBegins(now, speaks));
  }

  async #say(text: string): Promise<void> {
    const { clock, tts } = this.#parts;
    const samples = await tts.synthesize(text, callerSpeech(this.#parts));
    if (this.#state !== 'acting') return;
    this.#begin(clock.elapsed(), true);
    this.#queue.push(samples);
    await new Promise<void>((resolve) => this.#queue.mark(resolve));
  }

  async #press(keys: string): Promise<void> {
    this.#begin(this.#parts.clock.elapsed(), false);
    this.keysSent.push(keys);
    await this.#parts.host.sendDtmf(keys);
  }

  // ---------------------------------------------------------------- listening

  #listen(now: number): void {
    this.#state = 'listening';
    this.#listeningSince = now;
    this.#heard?.clear();
    this.#cut = false;
  }

  /** Checks whether the caller's turn has come. */
  #look(now: number): void {
    const meter = this.#meter;
    if (this.#parts.agentIsBusy()) this.#busyAt = now;
    const known = this.#agentVoice.knownTo(now);
    // The caller's own part is not over for the meter before that.
    if (!meter || known < this.#listeningSince) return;
    const { turnEndMs, patienceMs } = this.#parts.limits;
    const { firstAt, lastTo } = meter;
    // Where the media or the detector is late, the agent is not heard while it speaks.
    const unheardMs = known - Math.max(lastTo ?? 0, this.#listeningSince);
    if (unheardMs < patienceMs && this.#parts.agentSounds()) this.#busyAt = now;
    const quietSince = (since: number) => Math.max(since, this.#busyAt);
    if (firstAt === null || lastTo === null) {
      // Interrupted words may continue indefinitely.
      if (known - quietSince(this.#listeningSince) >= patienceMs) this.#endTurn('patience');
    } else if (meter.agentSpeaks && this.#interruptAfterMs !== null) {
      if (now - firstAt >= this.#interruptAfterMs) this.#endTurn('interruption');
    } else if (known - quietSince(lastTo) >= turnEndMs) this.#endTurn('silence');
  }

  #endTurn(by: TurnEnd): void {
    const { clock, turn, turnEnded } = this.#parts;
    const measures = this.#meter?.take(clock.elapsed());
    if (!measures) return;
    this.#state = 'waiting';
    turnEnded(by, this.#cut);
    const words = this.#transcribed();
    const last = by === 'call_end';
    this.#delivered = this.#delivered.then(async () => turn({ ...measures, words: await words }, last));
  }

  async #transcribed(): Promise<string | null> {
    const { stt, language, log } = this.#parts;
    const samples = this.#heard?.take();
    if (!stt || !samples) return null;
    try {
      return await stt.transcribe(samples, { sampleRate, language });
    } catch (error) {
      log.warn({ err: error }, 'what the agent said could not be transcribed');
      return null;
    }
  }
}

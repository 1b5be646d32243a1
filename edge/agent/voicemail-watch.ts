/**
 * Detects who answered an outbound call while its agent talks, and takes the call from the agent when it was
 * voicemail (contract 9.1 and 9.2).
 *
 *     [ watching ] --human, unknown--> [ inactive ]   the words of a screening assistant: `screening`, from both;
 *          | voicemail                      |          those of a mailbox: `voicemail`, from both
 *          |<--------words of a mailbox-----+
 *          +--ignore--> [ inactive ]
 *          +--hangup--> the end
 *          +--leave_message--> [ waiting for the beep ] --> [ speaking ] --> the end
 */
import type { Answerer } from '#shared/answerer.ts';
import type { Clock } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { NewId } from '#shared/ids.ts';
import { Timers } from '#shared/timers.ts';
import type { Log } from '../call/log.ts';
import type { AgentHost, AgentLeg, VoicemailOrder } from '../call/ports/agents.ts';
import type { DtmfEvent } from '../call/ports/media.ts';
import { AnsweringDetector } from './answering/detector.ts';
import type { AnsweringLimits } from './answering/limits.ts';
import { isMailbox } from './answering/mailbox.ts';
import { asksWhoCalls } from './answering/screening.ts';
import type { VoiceDetector, VoiceDetectors } from './ears/voice-detector.ts';
import { HostGate } from './host-gate.ts';
import { PlayQueue } from './play-queue.ts';

export interface VoicemailWatchDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly limits: AnsweringLimits;
  /** Tells voices from other sounds; where it cannot, loudness does. */
  readonly voices: VoiceDetectors;
  /** Called with the result, and again when words tell a screening assistant or a mailbox later. */
  readonly answered: (who: Answerer) => void;
  /** Synthesizes the order's message. */
  readonly synthesize: (message: string, sampleRate: number) => Promise<Int16Array>;
}

/** Delay between the last word and the end of the call, ms: audio still in the jitter buffer of the voicemail. */
const tailMs = 500;
const maxMessageSeconds = 600;
/** Time from the answer in which words tell a screening assistant: later the callee may quote one. */
const screenedWithinMs = 60_000;
/** The same for a mailbox: the words of its greeting, and not of what is said later. */
const greetsWithinMs = 30_000;
const detectorSamples = 160;

/** @param make creates the agent that talks unless voicemail answers */
export function watchVoicemail(
  order: VoicemailOrder,
  make: (host: AgentHost) => AgentLeg,
  host: AgentHost,
  deps: VoicemailWatchDeps,
): AgentLeg {
  const gate = new HostGate(host);
  return new VoicemailWatch(order, make(gate), gate, host, deps);
}

class VoicemailWatch implements AgentLeg {
  readonly #inner: AgentLeg;
  readonly #order: VoicemailOrder;
  readonly #gate: HostGate;
  readonly #host: AgentHost;
  readonly #deps: VoicemailWatchDeps;
  readonly #narrow = new Int16Array(detectorSamples);
  readonly #timers: Timers;
  #detector: AnsweringDetector | null = null;
  /** Speaks instead of the agent. */
  #queue: PlayQueue | null = null;
  #speech: Promise<Int16Array | null> | null = null;
  #reported = false;
  /** Voicemail or a screening assistant answered: that stays. */
  #settled = false;
  /** Hears nothing: while there is one, the detectors are loaded, so that they are when the callee says hello. */
  #loading: VoiceDetector | null = null;
  #startedAt = 0;
  #closed = false;

  constructor(
    order: VoicemailOrder,
    inner: AgentLeg,
    gate: HostGate,
    host: AgentHost,
    deps: VoicemailWatchDeps,
  ) {
    this.#inner = inner;
    this.#order = order;
    this.#gate = gate;
    this.#host = host;
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
    gate.said = ({ user, text }) => {
      if (user === 'user') this.#heardWords(text);
    };
  }

  get sampleRate(): 8000 | 16000 {
    return this.#inner.sampleRate;
  }

  async prepare(): Promise<void> {
    const { voices, log } = this.#deps;
    const loaded = voices.load().then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error }, 'who answers is judged by loudness');
        return false;
      },
    );
    await this.#inner.prepare();
    if ((await loaded) && !this.#closed) this.#loading = voices.create(8000, () => undefined);
  }

  /** Synthesizes the message during detection, so that it is ready for the beep. */
  start(): void {
    const { clock, limits, voices } = this.#deps;
    this.#startedAt = clock.elapsed();
    this.#detector = new AnsweringDetector(limits, this.#loading && voices.tellsNoise ? voices : null);
    this.#stopLoading();
    const { action, message } = this.#order;
    if (action === 'leave_message' && message !== null) this.#speech = this.#synthesized(message);
    this.#inner.start();
  }

  read(frame: Int16Array): boolean {
    return this.#queue ? this.#queue.read(frame) : this.#inner.read(frame);
  }

  dtmf(event: DtmfEvent): void {
    if (!this.#queue) this.#inner.dtmf?.(event);
  }

  instruct(text: string): void {
    this.#inner.instruct?.(text);
  }

  close(reason: string): void {
    this.#closed = true;
    this.#stopLoading();
    this.#stopDetecting();
    this.#timers.stop();
    this.#queue?.clear();
    this.#inner.close(reason);
  }

  write(frame: Int16Array): void {
    if (!this.#queue) this.#inner.write?.(frame);
    const detector = this.#detector;
    if (!detector) return;
    detector.write(this.#narrowed(frame));
    const { verdict } = detector;
    // The callback may end the call, which must not happen inside the call's media tick.
    if (verdict !== null && !this.#reported) {
      this.#reported = true;
      this.#settled = verdict === 'voicemail';
      if (this.#order.action !== 'leave_message') this.#stopDetecting();
      this.#timers.after(0, () => this.#decided(verdict));
    } else if (detector.records) {
      this.#stopDetecting();
      this.#timers.after(0, () => void this.#leaveMessage());
      // The words of a mailbox may come later than the judgement, which was a person then.
    } else if (verdict !== null && verdict !== 'voicemail' && this.#sinceAnswer > greetsWithinMs)
      this.#stopDetecting();
  }

  get #sinceAnswer(): number {
    return this.#deps.clock.elapsed() - this.#startedAt;
  }

  /** The frame at 8 kHz. A 16 kHz frame is averaged in pairs, which is good enough for levels and tones. */
  #narrowed(frame: Int16Array): Int16Array {
    if (frame.length === detectorSamples) return frame;
    for (let i = 0; i < detectorSamples; i++) {
      this.#narrow[i] = ((frame[2 * i] ?? 0) + (frame[2 * i + 1] ?? 0)) >> 1;
    }
    return this.#narrow;
  }

  /** An assistant that asks who calls is no mailbox: the agent goes on, and answers it. */
  #heardWords(text: string): void {
    if (this.#closed || this.#settled) return;
    const isScreening = this.#sinceAnswer <= screenedWithinMs && asksWhoCalls(text);
    if (!isScreening && !(this.#sinceAnswer <= greetsWithinMs && isMailbox(text))) return;
    this.#settled = true;
    this.#reported = true;
    if (isScreening || this.#order.action !== 'leave_message') this.#stopDetecting();
    else this.#detector?.isVoicemail();
    this.#timers.after(0, () => this.#decided(isScreening ? 'screening' : 'voicemail'));
  }

  #stopLoading(): void {
    this.#loading?.close();
    this.#loading = null;
  }

  #stopDetecting(): void {
    this.#detector?.close();
    this.#detector = null;
  }

  #decided(verdict: Answerer): void {
    this.#host.answeredBy(verdict);
    this.#deps.answered(verdict);
    if (verdict === 'screening') this.#note('agent-action', 'A call-screening assistant answered the call');
    if (verdict !== 'voicemail') return;
    const { action } = this.#order;
    this.#note('agent-action', 'Voicemail answered the call');
    if (action === 'ignore') return;
    this.#gate.shut();
    this.#inner.close('voicemail answered the call');
    this.#queue = new PlayQueue(this.sampleRate * maxMessageSeconds);
    if (action === 'hangup') this.#host.hangup('voicemail answered the call');
  }

  async #leaveMessage(): Promise<void> {
    const speech = await this.#speech;
    if (this.#closed) return;
    if (!speech)
      return this.#host.hangup('voicemail answered the call, and the message could not be synthesized');
    this.#note('assistant', this.#order.message ?? '');
    this.#queue?.push(speech);
    this.#queue?.mark(() => {
      if (!this.#closed) this.#timers.after(tailMs, () => this.#host.hangup('voicemail message left'));
    });
  }

  async #synthesized(message: string): Promise<Int16Array | null> {
    try {
      return await this.#deps.synthesize(message, this.sampleRate);
    } catch (error) {
      this.#deps.log.error({ err: error, text: message }, 'voicemail message could not be synthesized');
      return null;
    }
  }

  #note(user: TranscriptEntry['user'], text: string): void {
    const at = new Date(this.#deps.clock.now()).toISOString();
    this.#host.transcript({ id: this.#deps.newId(), at, user, text, node_id: null, node_name: null });
  }
}

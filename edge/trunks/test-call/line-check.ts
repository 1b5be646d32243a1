/**
 * The agent of a test call: plays the tone, sends the keys, measures what returns, and hangs up when nothing more can
 * be learned.
 *
 *     tone --1 s--> keys, if any --> tone --> proven: hang up
 *
 * Proven means: the tone was long enough, something audible arrived, the keys were sent, and it is known whether the
 * far end hears us, from the echo of our tone or an RTCP report. While one of these is open, the test call continues to
 * its time limit.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type { AgentHost, AgentLeg } from '../../call/ports/agents.ts';
import type { DtmfEvent } from '../../call/ports/media.ts';
import { sampleRate, TestTone, ToneMeter } from './test-tone.ts';

export interface LineCheckOptions {
  readonly clock: Clock;
  readonly host: Pick<AgentHost, 'hangup' | 'sendDtmf'>;
  /** Keys to send, null for none. */
  readonly dtmf: string | null;
  /** What the media proves so far. @param echoMs ms of our tone that came back */
  readonly media: (echoMs: number) => MediaReport | null;
  /** Called once, when packets flow both ways. */
  readonly confirmed: (media: MediaReport) => void;
  readonly keysSent: () => void;
}

const checkEveryMs = 100;
const frameMs = 20;
const toneBeforeKeysMs = 1000;
const enoughToneMs = 2000;
const enoughAudioMs = 500;
const enoughEchoMs = 200;
/** Time for an echo of the keys. */
const afterKeysMs = 500;
/** Maximum keys recorded: the far end may send them endlessly. */
const maxKeysHeard = 64;

export class LineCheck implements AgentLeg {
  readonly sampleRate = sampleRate;
  readonly #options: LineCheckOptions;
  readonly #tone = new TestTone();
  readonly #meter = new ToneMeter();
  #timer: Timer | null = null;
  #keys: 'due' | 'going out' | 'settled';
  #keysSettledAt = Number.NEGATIVE_INFINITY;
  #toneMs = 0;
  #confirmed = false;
  /** Keys that the far end sent or echoed. */
  keysHeard = '';
  #keysRefused: string | null = null;

  constructor(options: LineCheckOptions) {
    this.#options = options;
    this.#keys = options.dtmf === null ? 'settled' : 'due';
  }

  get audibleMs(): number {
    return this.#meter.audibleMs;
  }

  get echoMs(): number {
    return this.#meter.echoMs;
  }

  /** Why not all keys were sent; null when they were, or there were none. */
  get keysProblem(): string | null {
    if (this.#keys !== 'settled') return 'the test call ended before they were sent';
    return this.#keysRefused;
  }

  async prepare(): Promise<void> {}

  start(): void {
    this.#checkSoon();
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  read(frame: Int16Array): boolean {
    if (this.#keys === 'going out') return false;
    this.#tone.fill(frame);
    this.#toneMs += frameMs;
    return true;
  }

  write(frame: Int16Array): void {
    this.#meter.write(frame);
  }

  dtmf({ digit }: DtmfEvent): void {
    if (this.keysHeard.length < maxKeysHeard) this.keysHeard += digit;
  }

  /** A media tick must not end its own call, so the decision uses a timer. */
  #checkSoon(): void {
    this.#timer = this.#options.clock.after(checkEveryMs, () => this.#check());
  }

  #check(): void {
    const { host, confirmed } = this.#options;
    const media = this.#options.media(this.#meter.echoMs);
    if (!this.#confirmed && media?.verdict === 'two_way') {
      this.#confirmed = true;
      confirmed(media);
    }
    if (this.#keys === 'due' && this.#toneMs >= toneBeforeKeysMs) this.#press();
    if (this.#proven(media)) host.hangup('The test call is complete.');
    else this.#checkSoon();
  }

  #press(): void {
    const { host, dtmf, keysSent, clock } = this.#options;
    this.#keys = 'going out';
    host
      .sendDtmf(dtmf ?? '')
      .then(keysSent, (error: unknown) => {
        this.#keysRefused = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        this.#keys = 'settled';
        this.#keysSettledAt = clock.elapsed();
      });
  }

  #proven(media: MediaReport | null): boolean {
    const { clock } = this.#options;
    return (
      // The current verdict counts: the far end may report later that nothing arrives.
      media?.verdict === 'two_way' &&
      this.#toneMs >= enoughToneMs &&
      this.#meter.audibleMs >= enoughAudioMs &&
      this.#keys === 'settled' &&
      clock.elapsed() - this.#keysSettledAt >= afterKeysMs &&
      (this.#meter.echoMs >= enoughEchoMs || media.peer_hears === 'yes')
    );
  }
}

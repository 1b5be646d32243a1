/**
 * Speaks to the target of a warm transfer, and joins the waiting call when the target accepts it.
 *
 *     [ announcing ] --played, no key required--> join
 *          |   ^
 *   played |   | wrong key or silence, once
 *          v   |
 *     [ asking ] --the key--> join
 *          | wrong key or silence again
 *          v
 *        hangup
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { NewId } from '#shared/ids.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import type { AgentHost, AgentLeg, Manner } from '../call/ports/agents.ts';
import type { DtmfEvent } from '../call/ports/media.ts';
import type { ConsultOrder } from '../call/ports/transfer.ts';
import type { ConsultLimits } from './limits.ts';
import { PlayQueue } from './play-queue.ts';

export interface ConsultDeps extends Manner {
  readonly tts: Pick<TextToSpeech, 'synthesize'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly limits: ConsultLimits;
}

const maxSeconds = 600;

export class ConsultAgent implements AgentLeg {
  readonly sampleRate = 8000;
  readonly #order: ConsultOrder;
  readonly #host: AgentHost;
  readonly #deps: ConsultDeps;
  #queue = new PlayQueue(8000 * maxSeconds);
  #speech: Int16Array | null = null;
  #timer: Timer | null = null;
  #repeats = 0;
  #started = false;
  #decided = false;

  constructor(order: ConsultOrder, host: AgentHost, deps: ConsultDeps) {
    this.#order = order;
    this.#host = host;
    this.#deps = deps;
  }

  /** Synthesizes the announcement. Rejects when that fails: no call is joined unannounced. */
  async prepare(): Promise<void> {
    const { announcement } = this.#order;
    if (announcement === null) return;
    const { sampleRate } = this;
    const { tts, voice, language } = this.#deps;
    this.#speech = await tts.synthesize(announcement, { voice, language, sampleRate });
  }

  start(): void {
    this.#started = true;
    this.#announce();
  }

  read(frame: Int16Array): boolean {
    return this.#queue.read(frame);
  }

  /** The key may also be pressed during the announcement. */
  dtmf({ digit }: DtmfEvent): void {
    const { acceptKey } = this.#order;
    if (acceptKey === null || this.#decided || !this.#started) return;
    this.#note('user', `Pressed ${digit}`);
    if (digit === acceptKey) this.#join();
    else this.#again(`the key ${digit} was pressed, not ${acceptKey}`);
  }

  close(): void {
    this.#decided = true;
    this.#timer?.cancel();
    this.#silence();
  }

  #announce(): void {
    const { announcement } = this.#order;
    if (announcement === null || !this.#speech) {
      this.#announced();
      return;
    }
    this.#note('assistant', announcement);
    const queue = this.#queue;
    queue.push(this.#speech);
    queue.mark(() => {
      // Marks of an interrupted announcement do not count.
      if (queue === this.#queue) this.#announced();
    });
  }

  #announced(): void {
    const { acceptKey, announcement } = this.#order;
    const { acceptWithinMs, tailMs } = this.#deps.limits;
    if (this.#decided) return;
    if (acceptKey !== null) this.#wait(acceptWithinMs, () => this.#again('no key was pressed'));
    else if (announcement !== null) this.#wait(tailMs, () => this.#join());
    else this.#join();
  }

  #again(why: string): void {
    this.#timer?.cancel();
    if (this.#repeats >= this.#deps.limits.repeats) {
      this.#decided = true;
      this.#silence();
      this.#host.hangup(`the target did not accept the call: ${why}`);
      return;
    }
    this.#repeats++;
    this.#silence();
    this.#announce();
  }

  #join(): void {
    this.#decided = true;
    this.#timer?.cancel();
    this.#silence();
    this.#host.join();
  }

  #silence(): void {
    this.#queue = new PlayQueue(this.sampleRate * maxSeconds);
  }

  #wait(ms: number, fire: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#deps.clock.after(ms, fire);
  }

  #note(user: TranscriptEntry['user'], text: string): void {
    const at = new Date(this.#deps.clock.now()).toISOString();
    this.#host.transcript({ id: this.#deps.newId(), at, user, text, node_id: null, node_name: null });
  }
}

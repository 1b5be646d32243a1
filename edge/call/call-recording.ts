/**
 * The recording of one call. Its order is made while the call is set up, so that the announcement is at hand when the call
 * is answered; it begins before the agent is heard, and ends with the media leg.
 */
import type { RecordingFault } from '#shared/recording/format.ts';
import type { CallDeps } from './call-deps.ts';
import type { LiveCall } from './live-call.ts';
import type { LegRecording, RecordingOrder } from './ports/media.ts';

type Order = Omit<RecordingOrder, 'stopped'>;

/** Why a recording stopped although its call goes on: sentences of the call's transcript. */
const faultWords: Readonly<Record<RecordingFault, string>> = {
  edge_disk_full: 'there is no more room for recordings on the edge',
  edge_disk_failed: "the edge's disk failed",
  edge_disk_slow: "the edge's disk is too slow",
};

export class CallRecording {
  readonly #call: LiveCall;
  readonly #recordings: CallDeps['recordings'];
  #order: Promise<Order> | null = null;
  #leg: LegRecording | null = null;
  #isPaused = false;
  #stopped = false;

  constructor(call: LiveCall, { recordings }: Pick<CallDeps, 'recordings'>) {
    this.#call = call;
    this.#recordings = recordings;
  }

  /** Whether the call is recorded, or will be once it is up. */
  get isOn(): boolean {
    return this.#order !== null && !this.#stopped;
  }

  /** Resolves when the recording can begin at once; null: the call is not recorded. */
  ready(): Promise<unknown> | null {
    const { id, plan } = this.#call;
    // The legs of a transfer are heard on the call that is transferred, and a test is no conversation of a customer.
    if (plan.transfer || plan.testRunId !== undefined) return null;
    this.#order ??= this.#recordings?.order({ callId: id, orgId: plan.orgId, agent: plan.agent }) ?? null;
    return this.#order;
  }

  /** The call is up. */
  start(): void {
    if (this.ready()) void this.#order?.then((order) => this.#call.guarded(() => this.#begin(order)));
  }

  /** Before the recording has begun, it begins like this. @returns false when the call is not being recorded */
  carryOut(action: 'pause' | 'resume'): boolean {
    if (this.#stopped || !this.ready()) return false;
    this.#isPaused = action === 'pause';
    this.#leg?.[action]();
    this.#call.ledger.note(action === 'pause' ? 'The recording was paused.' : 'The recording was resumed.');
    return true;
  }

  #begin(order: Order): void {
    const { media, up, log, ledger } = this.#call;
    if (!media || !up || this.#leg) return;
    const stopped = (reason: RecordingFault, detail: string) => {
      this.#stopped = true;
      this.#recordings?.count(reason);
      log.warn({ reason, detail }, 'the recording of a call stopped');
      ledger.note(`The recording stopped: ${faultWords[reason]}.`);
    };
    try {
      this.#leg = media.record({ ...order, stopped });
      if (this.#isPaused) this.#leg.pause();
      this.#recordings?.count('begun');
      log.info({ recording_id: order.header.id }, 'the call is recorded');
    } catch (error) {
      this.#stopped = true;
      this.#recordings?.count('failed');
      log.error({ err: error }, 'the call could not be recorded');
      ledger.note('The recording could not begin.');
    }
  }
}

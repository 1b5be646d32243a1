/**
 * The recording of one call. Its order is made while the call is set up, so that the announcement is at hand when the call
 * is answered; it begins before the agent is heard, and ends with the media leg.
 *
 * A pause holds for the recordings of all who hear the call: those of its conference, or of the call that it is joined with.
 * Each of them is paused while one of these calls has paused, so a call that comes meanwhile begins paused, and a pause
 * leaves with the call that ordered it.
 */
import type { RecordingFault } from '#shared/recording/format.ts';
import type { CallDeps } from './call-deps.ts';
import type { LiveCall } from './live-call.ts';
import type { LegRecording, RecordingOrder } from './ports/media.ts';

type Order = Omit<RecordingOrder, 'stopped' | 'paused'>;

/** Why a recording stopped although its call goes on: sentences of the call's transcript. */
const faultWords: Readonly<Record<RecordingFault, string>> = {
  edge_disk_full: 'there is no more room for recordings on the edge',
  edge_disk_failed: "the edge's disk failed",
  edge_disk_slow: "the edge's disk is too slow",
};

/** Lines about pauses in the transcript of a call: a peer may press its key as often as it likes. */
const mostPauseLines = 100;

export class CallRecording {
  readonly #call: LiveCall;
  readonly #recordings: CallDeps['recordings'];
  /** Undefined: nobody has asked yet whether the call is recorded. */
  #order: Promise<Order> | null | undefined = undefined;
  #leg: LegRecording | null = null;
  #pauses = false;
  #pausedByOthers = false;
  #stopped = false;
  #pauseLines = 0;

  constructor(call: LiveCall, { recordings }: Pick<CallDeps, 'recordings'>) {
    this.#call = call;
    this.#recordings = recordings;
  }

  /** Whether the call is recorded, or will be once it is up. */
  get isOn(): boolean {
    return (this.#order ?? null) !== null && !this.#stopped;
  }

  /** Whether the call wants nothing recorded: by its peer's key, its agent or the API. */
  get pauses(): boolean {
    return this.#pauses;
  }

  /**
   * Resolves when the recording can begin at once; null: the call is not recorded. Decided once: what is set later counts
   * for later calls.
   */
  ready(): Promise<unknown> | null {
    const { id, plan } = this.#call;
    // Legs of a transfer and of supervisors are heard on another call; a test is recorded where its run wants that.
    if (plan.transfer?.recorded === false || plan.supervises) return null;
    if (plan.testRunId !== undefined && !plan.recordsTest) return null;
    if (this.#order === undefined)
      this.#order = this.#recordings?.order({ callId: id, orgId: plan.orgId, agent: plan.agent }) ?? null;
    return this.#order;
  }

  /** The call is up. */
  start(): void {
    if (this.ready()) void this.#order?.then((order) => this.#call.guarded(() => this.#begin(order)));
  }

  /**
   * Before the recording has begun, it begins like this.
   * @returns false when neither the call nor one that hears it is being recorded
   */
  carryOut(action: 'pause' | 'resume'): boolean {
    const { company } = this.#call.transfers;
    if (!this.isOn && !company.some(({ recording }) => recording.isOn)) return false;
    this.#decide(action === 'pause', '');
    this.#leg?.[action]();
    return true;
  }

  /** The agent of `before` continues on this call: what it wanted not to be recorded still is not. */
  continue(before: Pick<CallRecording, 'pauses'>): void {
    if (before.pauses) this.carryOut('pause');
  }

  /**
   * This call goes on in the place of `before`: what was recorded of one of them goes on here, and is paused when one of
   * them was.
   */
  succeed(before: readonly Pick<LiveCall, 'plan' | 'recording'>[]): void {
    const recorded = before.filter(({ recording }) => recording.isOn);
    const [first] = recorded;
    if (!first || this.isOn) return;
    const { id, plan: own } = this.#call;
    this.#order = this.#recordings?.order({ callId: id, orgId: own.orgId, agent: first.plan.agent }) ?? null;
    if (this.isOn && recorded.some(({ recording }) => recording.pauses)) this.#decide(true, '');
    void this.#order?.then((order) => this.#call.guarded(() => this.#begin(order)));
  }

  #decide(pauses: boolean, how: string): void {
    const isNews = this.#pauses !== pauses;
    this.#pauses = pauses;
    if (isNews) this.#note(`The recording was ${pauses ? 'paused' : 'resumed'}${how}.`);
    for (const { recording } of this.#call.transfers.company) recording.followOthers();
  }

  /** Who hears the call has changed, or one of them has paused or resumed. */
  followOthers(): void {
    const { company } = this.#call.transfers;
    const paused = company.some(({ recording }) => recording.pauses);
    if (paused === this.#pausedByOthers) return;
    this.#pausedByOthers = paused;
    this.#leg?.pauseWithOthers(paused);
    if (this.isOn && this.#call.up && !this.#pauses)
      this.#note(`The recording was ${paused ? 'paused' : 'resumed'} with that of another call.`);
  }

  #note(line: string): void {
    this.#pauseLines++;
    if (this.#pauseLines <= mostPauseLines) this.#call.ledger.note(line);
    else if (this.#pauseLines === mostPauseLines + 1)
      this.#call.ledger.note('Further pauses of the recording are not listed.');
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
      const paused = (isPaused: boolean) => {
        // Orders of this side come back as well.
        if (isPaused !== this.#pauses) this.#decide(isPaused, " by the peer's key");
      };
      this.#leg = media.record({ ...order, stopped, paused });
      if (this.#pauses) this.#leg.pause();
      if (this.#pausedByOthers) this.#leg.pauseWithOthers(true);
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

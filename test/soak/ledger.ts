/**
 * What the product promises about each call, checked for each: exactly one final record, and nothing that the soak did
 * not cause itself. Bounded: a call is forgotten when its record is verified.
 */
import { CallLogOne } from '#shared/api/sip-calls.ts';
import type { Api } from '../kit/programs/api.ts';
import type { Disturbances, Part } from './disturbances.ts';

/** Failures in words; further ones are only counted. */
const mostShown = 100;
/** How long control may take until it has the record of an ended call: the edge restarts and reconnects meanwhile. */
const recordMs = 180_000;
/** The same for a call that may have no record, because its peer got no final response. */
const maybeMs = 20_000;
/**
 * The 200 is on the wire a moment before the record of the answer is on the edge's disk. A call that was answered so
 * shortly before a kill of the edge may have no record.
 */
const answerMs = 2_000;

export interface Tally {
  made: number;
  /** Went as scripted. */
  passed: number;
  /** Failed, and the soak had broken something that the call depends on. */
  excused: number;
  broken: number;
}

export interface Call {
  readonly kind: string;
  readonly begun: number;
  /** SIP Call-ID, or id. */
  key: string | null;
  /** When the peer or the API was told that the call exists; null: it may have no record. */
  knownSince: number | null;
  /** Audio went both ways, which the record must say. */
  hasTalked: boolean;
}

export interface Ended {
  readonly call: Call;
  readonly needs: readonly Part[];
  readonly at: number;
  readonly excused: boolean;
}

export class Ledger {
  readonly kinds = new Map<string, Tally>();
  /** Broken promises in words. */
  readonly broken: string[] = [];
  brokenCount = 0;
  verified = 0;
  /** Records that were allowed to be missing, and are. */
  withoutRecord = 0;
  readonly #disturbances: Disturbances;
  readonly #say: (line: string) => void;
  #waiting: Ended[] = [];

  /** @param say gets each broken promise at once */
  constructor(disturbances: Disturbances, say: (line: string) => void = () => {}) {
    this.#disturbances = disturbances;
    this.#say = say;
  }

  /** Ended calls whose record is not yet verified. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** A promise is broken. */
  breaks(what: string): void {
    this.brokenCount++;
    this.#say(`BROKEN: ${what}`);
    if (this.broken.length < mostShown) this.broken.push(`${new Date().toISOString()} ${what}`);
  }

  /**
   * Carries out the script of one call or operation and books how it went.
   * @param needs parts whose disturbance excuses a failure
   */
  async run(kind: string, needs: readonly Part[], script: (call: Call) => Promise<void>): Promise<void> {
    const tally = this.kinds.get(kind) ?? { made: 0, passed: 0, excused: 0, broken: 0 };
    this.kinds.set(kind, tally);
    tally.made++;
    const call: Call = { kind, begun: performance.now(), key: null, knownSince: null, hasTalked: false };
    const failure = await script(call).then(
      () => null,
      (error: unknown) => text(error),
    );
    // A stall of the whole machine, or of the soak itself, touches everything.
    const depends: readonly Part[] = [...needs, 'machine'];
    const excused = this.#disturbances.touched(depends, call.begun);
    if (failure === null) tally.passed++;
    else if (excused) tally.excused++;
    else {
      tally.broken++;
      const seconds = ((performance.now() - call.begun) / 1000).toFixed(1);
      this.breaks(`${kind} ${call.key ?? ''} after ${seconds} s: ${failure}`);
    }
    if (call.key !== null) this.#waiting.push({ call, needs: depends, at: performance.now(), excused });
  }

  /** Verifies the records of ended calls as far as control has them. */
  async verify(api: Api): Promise<void> {
    for (const ended of this.#waiting.splice(0)) {
      const isDone = await this.#verifyOne(api, ended).catch(() => false);
      if (!isDone) this.#waiting.push(ended);
    }
  }

  /** @returns whether there is nothing left to wait for */
  async #verifyOne(api: Api, ended: Ended): Promise<boolean> {
    const { call, at } = ended;
    const waited = performance.now() - at;
    const isLate = waited > recordMs;
    const answer = await api.request('GET', `/v1/sip/calls/${encodeURIComponent(call.key ?? '')}`);
    if (answer.status === 404)
      return this.#missing(call, isLate || (call.knownSince === null && waited > maybeMs));
    if (answer.status !== 200) return false;
    const record = answer.read(CallLogOne).data.call;
    if (record.ended_at === null) {
      if (!isLate) return false;
      this.breaks(`${call.kind} ${call.key}: the record has no end ${recordMs / 1000} s after the call`);
      return true;
    }
    this.verified++;
    if (isExcused(ended, Date.parse(record.ended_at) - performance.timeOrigin, this.#disturbances))
      return true;
    const verdict = record.media?.verdict;
    if (record.termination === 'internal_error' || record.termination === 'media_lost')
      this.breaks(`${call.kind} ${call.key}: ${record.termination}, ${record.termination_detail}`);
    if (call.hasTalked && verdict !== 'two_way')
      this.breaks(
        `${call.kind} ${call.key}: audio went both ways, the record says ${JSON.stringify(record.media)}`,
      );
    return true;
  }

  #missing(call: Call, isLate: boolean): boolean {
    if (!isLate) return false;
    const since = call.knownSince;
    const killed = since !== null && this.#disturbances.began(['edge'], since - answerMs, since + answerMs);
    if (since === null || killed) this.withoutRecord++;
    else this.breaks(`${call.kind} ${call.key}: no record ${recordMs / 1000} s after the call`);
    return true;
  }
}

/**
 * Whether a record may say what it likes. For a peer that vanished, its call is over; for the edge it still stands, and
 * may be disturbed meanwhile.
 * @param recordedEnd performance.now() when the call ended according to its record
 */
export function isExcused(
  { call, needs, at, excused }: Ended,
  recordedEnd: number,
  disturbances: Disturbances,
): boolean {
  return excused || (recordedEnd > at && disturbances.touched(needs, call.begun));
}

function text(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words.replaceAll(/\s+/g, ' ').slice(0, 600);
}

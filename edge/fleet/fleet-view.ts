/**
 * The fleet as this edge knows it: which work is assigned to it (docs/internals/fleet.md). Until control has sent the
 * members, and at a control plane that does not know fleets, everything is.
 *
 * The last known members are kept in a file: while control is away, the last assignment stays, over a restart too. At a
 * control plane that does not know fleets, they are those with whom this edge shares the limits of calls.
 *
 *     member --new link: others are members now--> expelled --control takes it in again--> member, nothing was handed over
 *                                                     \--not within `rejoinMs`--> outside
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Membership } from '#shared/edge-protocol/fleet.ts';
import { Assignment } from '#shared/fleet/assignment.ts';
import { fits, integer, listOf, objectOf, orNull, type Shaped, text } from '#shared/shapes.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';

/** `epoch` null: control does not know fleets. */
const storedShape = objectOf({ epoch: orNull(integer()), members: listOf(text) }, {}, true);

/** Control takes in an edge that has connected within milliseconds, or a second when another replica decides. */
const rejoinMs = 3_000;

export interface FleetViewOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly edgeId: string;
  /** Created with the first members. */
  readonly path: string;
  /**
   * Called after each change of the assignments.
   * @param isBack others have worked for this edge meanwhile, and must hear from it
   */
  readonly changed: (isBack: boolean) => void;
  /** A write failed: after a restart without control the edge does the work of an earlier epoch. */
  readonly unstored: (fault: StorageFault) => void;
}

export class FleetView {
  readonly #options: FleetViewOptions;
  #epoch: number | null = null;
  #members: readonly string[] = [];
  /** While this edge is expelled, it works as before: it does not give away what it gets back in a moment. */
  #expelled: Timer | null = null;
  #latest = 0;
  #isMember = false;
  #assignment = new Assignment([]);

  constructor(options: FleetViewOptions) {
    this.#options = options;
    const stored = readStored(options.path);
    if (stored) this.#know(stored.epoch, stored.members);
  }

  /** Under which the edge works; null: it is in no fleet. */
  get epoch(): number | null {
    return this.#epoch;
  }

  /** Whether other edges may take over what this one does. */
  get hasOthers(): boolean {
    return this.#epoch !== null && this.size > 1;
  }

  /** This edge and the members, or those that were members when control last knew fleets. */
  get size(): number {
    return new Set([...this.#members, this.#options.edgeId]).size;
  }

  /** Whether the work on a subject (shared/fleet/assignment.ts) is this edge's. */
  isOurs(subject: string): boolean {
    return this.#epoch === null || this.#assignment.of(subject) === this.#options.edgeId;
  }

  /** Control has sent its members, or what changed. */
  apply({ epoch, from, joined, left }: Membership): void {
    const before = from === null ? [] : this.#members.filter((id) => !left.includes(id));
    this.#members = [...before, ...joined];
    const isMember = this.#members.includes(this.#options.edgeId);
    const isExpelled = !isMember && (this.#expelled !== null || (from === null && this.#isMember));
    this.#latest = epoch;
    if (isExpelled) this.#expelled ??= this.#options.clock.after(rejoinMs, () => this.#adopt(this.#latest));
    else this.#adopt(epoch);
  }

  /** Control does not know fleets. */
  leave(): void {
    if (this.#epoch !== null) this.#adopt(null);
  }

  #adopt(epoch: number | null): void {
    const isBack = this.#expelled !== null && this.#members.includes(this.#options.edgeId);
    this.#expelled?.cancel();
    this.#expelled = null;
    const isNews = epoch !== this.#epoch;
    this.#know(epoch, this.#members);
    if (!isNews) return;
    this.#store();
    this.#options.changed(isBack);
  }

  #know(epoch: number | null, members: readonly string[]): void {
    this.#epoch = epoch;
    this.#members = members;
    this.#isMember = epoch !== null && members.includes(this.#options.edgeId);
    this.#assignment = new Assignment(members);
  }

  #store(): void {
    const { path } = this.#options;
    try {
      writeFileSync(`${path}.new`, JSON.stringify({ epoch: this.#epoch, members: this.#members }), {
        mode: 0o600,
      });
      renameSync(`${path}.new`, path);
    } catch (error) {
      const fault = storageFault(error);
      if (fault === null) throw error;
      this.#options.unstored(fault);
    }
  }
}

/** null: there is none, or it is damaged; control sends the members again. */
function readStored(path: string): Shaped<typeof storedShape> | null {
  try {
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return fits(storedShape, stored) ? stored : null;
  } catch {
    return null;
  }
}

/** Which of several replicas notifies the operator, and what the others know of it. */
import { createHash } from 'node:crypto';
import { type Replica, rounds } from '../db/index.ts';
import type { Bus, Topic } from '../replicas/index.ts';
import type { StorageLevel } from './operator-rules.ts';

/** What an address was last told. */
export interface Told {
  /** By `nameOf`: an address may be a secret. */
  readonly address: string;
  readonly reported: readonly (readonly [subject: string, level: StorageLevel])[];
  readonly thread: string | null;
}

export class OperatorTurn {
  readonly #replica: Replica;
  readonly #told: Topic<Told>;
  #hasLease = false;
  readonly work: ReturnType<Replica['whileHeld']>;

  constructor(replica: Replica, bus: Bus) {
    this.#replica = replica;
    this.#told = bus.topic('operator-told');
    this.work = replica.whileHeld('operator alerts', () => {
      this.#hasLease = true;
      return rounds(async () => {
        this.#hasLease = false;
      });
    });
  }

  /** One replica has the turn. While the database is away, nobody knows who, and each has it. */
  get isOurs(): boolean {
    return this.#hasLease || !this.#replica.hasOthers || !this.#replica.isPresent;
  }

  nameOf(address: string): string {
    return createHash('sha256').update(address).digest('hex').slice(0, 16);
  }

  tell(address: string, reported: Told['reported'], thread: string | null): void {
    this.#told.post({ address: this.nameOf(address), reported, thread });
  }

  onTold(act: (told: Told) => void): void {
    this.#told.on(act);
  }
}

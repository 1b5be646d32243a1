/**
 * What organizations set up (numbers, trunks, agents, tools), as one thing that is written: every write goes through
 * `change`, which lets those above act on it in the same transaction. Areas below never call upward:
 *
 *     something changed            Altered         whoever follows publishes it, for example to the edges
 *     may this be deleted?         usersOf         whoever may use it was added with `usedBy`
 *     ... a version of a pathway?  usersOfVersion  whoever may name it was added with `versionUsedBy`
 *     this is being deleted        removed         whoever keeps something about it was added with `onRemoval`
 */
import type { Database, Db } from '../db/index.ts';

/** What a write altered. */
export class Altered {
  readonly organizations = new Set<string>();
  readonly numbers = new Set<string>();
  readonly pathways = new Set<string>();
  /** Settings of the deployment, which alter at a start only. */
  settings = false;
  readonly #afterCommit: (() => void)[] = [];

  /** Has `act` called once the write is committed; never when it is rolled back. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act);
  }

  /** To be called after the commit. */
  committed(): void {
    for (const act of this.#afterCommit) act();
  }
}

/** What can be deleted, or switched off, while others refer to it. */
export interface Subject {
  readonly kind: 'pathway' | 'persona' | 'trunk_alerts';
  readonly id: string;
}

/** Ids of what uses a subject, under the name that they have in the error's details, such as `widget_ids`. */
type AskUsers = (db: Db, id: string) => Promise<readonly string[]>;

/** Calls, and tests of each kind, that an error names: thousands may wait. */
export const mostNamedUsers = 100;

/** A version of a pathway that others may name by its number. */
export interface NamedVersion {
  readonly orgId: string;
  readonly pathwayId: string;
  readonly version: number;
}

/** Ids of what names a version, a bounded number of them. */
type AskVersionUsers = (db: Db, version: NamedVersion) => Promise<readonly string[]>;

export interface Users {
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly count: number;
}

/** Acts on what a write altered, in its transaction. */
type Follow = (db: Db, altered: Altered) => Promise<void>;

/** Drops what is kept about a subject that goes, in the transaction. @param now ISO */
type Drop = (db: Db, id: string, now: string, altered: Altered) => Promise<void>;

export class Catalogue {
  readonly #database: Database;
  readonly #followers: Follow[] = [];
  readonly #askers: { readonly kind: Subject['kind']; readonly name: string; readonly ask: AskUsers }[] = [];
  readonly #versionAskers: { readonly name: string; readonly ask: AskVersionUsers }[] = [];
  readonly #droppers: { readonly kind: Subject['kind']; readonly drop: Drop }[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs a write in a transaction. `work` must use the transaction that it is given for all its queries. */
  async change<T>(work: (db: Db, altered: Altered) => Promise<T>): Promise<T> {
    const altered = new Altered();
    const result = await this.#database.db.transaction().execute(async (db) => {
      const result = await work(db, altered);
      for (const follow of this.#followers) await follow(db, altered);
      return result;
    });
    altered.committed();
    return result;
  }

  follow(follow: Follow): void {
    this.#followers.push(follow);
  }

  /** Adds one who may use subjects of a kind. @param name under which the error names the users */
  usedBy(kind: Subject['kind'], name: string, ask: AskUsers): void {
    this.#askers.push({ kind, name, ask });
  }

  /** Who uses a subject: ids by name, and how many in all. */
  async usersOf(db: Db, { kind, id }: Subject): Promise<Users> {
    const ids: Record<string, readonly string[]> = {};
    for (const asker of this.#askers) if (asker.kind === kind) ids[asker.name] = await asker.ask(db, id);
    return { ids, count: Object.values(ids).flat().length };
  }

  /** Adds one who may name versions of pathways. @param name under which the error names the users */
  versionUsedBy(name: string, ask: AskVersionUsers): void {
    this.#versionAskers.push({ name, ask });
  }

  /** Who names a version: ids by name, and how many in all. */
  async usersOfVersion(db: Db, version: NamedVersion): Promise<Users> {
    const ids: Record<string, readonly string[]> = {};
    for (const { ask, name } of this.#versionAskers) ids[name] = await ask(db, version);
    return { ids, count: Object.values(ids).flat().length };
  }

  onRemoval(kind: Subject['kind'], drop: Drop): void {
    this.#droppers.push({ kind, drop });
  }

  /** Lets everybody drop what they keep about a subject that goes. @param now ISO */
  async removed(db: Db, altered: Altered, { kind, id }: Subject, now: string): Promise<void> {
    for (const dropper of this.#droppers) if (dropper.kind === kind) await dropper.drop(db, id, now, altered);
  }
}

/**
 * What organizations set up (numbers, trunks, agents, tools). Every write goes through `change`, which runs the
 * followers in the same transaction. Lower areas never call upper ones; upper areas register here:
 *
 *     something changed            Altered         followers publish it, for example to the edges
 *     may this be deleted?         usersOf         areas that may use it registered with `usedBy`
 *     this is being deleted        removed         areas that keep something about it registered with `onRemoval`
 */
import type { Database, Db } from '../db/index.ts';

/** What a write changed. */
export class Altered {
  readonly organizations = new Set<string>();
  readonly numbers = new Set<string>();
  readonly pathways = new Set<string>();
  /** Ids of edges about which the operator decided something. */
  readonly edges = new Set<string>();
  /** The operator's SIP proxies. */
  proxies = false;
  /** Settings of the deployment; they change only at a start. */
  settings = false;
  readonly #afterCommit: (() => void)[] = [];

  /** Calls `act` once the write is committed, never after a rollback. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act);
  }

  /** Called after the commit. */
  committed(): void {
    for (const act of this.#afterCommit) act();
  }
}

/** Something that others may refer to, and that can be deleted or switched off. */
export interface Subject {
  readonly kind: 'pathway' | 'persona' | 'trunk_alerts' | 'edge';
  readonly id: string;
}

/** Ids of a subject's users, under their name in the error's details, such as `widget_ids`. */
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

/** Acts on what a write changed, in its transaction. */
type Follow = (db: Db, altered: Altered) => Promise<void>;

/** Deletes what is kept about a removed subject, in the transaction. @param now ISO */
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

  /** Runs a write in a transaction. `work` must use the given transaction for all its queries. */
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

  /** Registers a possible user of subjects of a kind. @param name key of the users' ids in the error */
  usedBy(kind: Subject['kind'], name: string, ask: AskUsers): void {
    this.#askers.push({ kind, name, ask });
  }

  /** The users of a subject: ids by name, and the total. */
  async usersOf(db: Db, { kind, id }: Subject): Promise<Users> {
    const ids: Record<string, readonly string[]> = {};
    for (const asker of this.#askers) if (asker.kind === kind) ids[asker.name] = await asker.ask(db, id);
    return users(ids);
  }

  /** Adds one who may name versions of pathways. @param name under which the error names the users */
  versionUsedBy(name: string, ask: AskVersionUsers): void {
    this.#versionAskers.push({ name, ask });
  }

  /** Who names a version: ids by name, and how many in all. */
  async usersOfVersion(db: Db, version: NamedVersion): Promise<Users> {
    const ids: Record<string, readonly string[]> = {};
    for (const { ask, name } of this.#versionAskers) ids[name] = await ask(db, version);
    return users(ids);
  }

  onRemoval(kind: Subject['kind'], drop: Drop): void {
    this.#droppers.push({ kind, drop });
  }

  /** Has all areas delete what they keep about a removed subject. @param now ISO */
  async removed(db: Db, altered: Altered, { kind, id }: Subject, now: string): Promise<void> {
    for (const dropper of this.#droppers) if (dropper.kind === kind) await dropper.drop(db, id, now, altered);
  }
}

function users(ids: Users['ids']): Users {
  return { ids, count: Object.values(ids).flat().length };
}

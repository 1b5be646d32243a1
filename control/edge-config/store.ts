/**
 * The edges' configuration: every element is stored as last published, with its version. A write in any area publishes
 * its changes in the same transaction, so configuration and version always agree, and an edge gets only the elements
 * newer than its own.
 */
import type { EdgeConfig, EdgeConfigChange, OrgConfig, PathwayConfig } from '#shared/edge-protocol/config.ts';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import type { Altered, Catalogue } from '../catalogue/index.ts';
import {
  type Database,
  type Db,
  type EdgeConfigItemRow,
  fromJson,
  type SecretBox,
  toJson,
} from '../db/index.ts';
import {
  type CallCeiling,
  ceilingOf,
  limitsInForce,
  openConnections,
  signingSecretContext,
} from '../organizations/index.ts';
import { openPhones } from '../phone-sessions/index.ts';
import type { Bus, Topic } from '../replicas/index.ts';
import { openPassword } from '../trunks/index.ts';
import {
  type AlteredKeys,
  edgeItem,
  everything,
  type Item,
  newestVersion,
  nextVersion,
  numberItem,
  organizationItem,
  pathwayItems,
  pathwayOf,
  proxiesItem,
  type StoredOrganization,
  storedContent,
  storeItem,
} from './items.ts';
import { NewestRead } from './newest-read.ts';
import { openTrunks } from './rules.ts';

type Kind = EdgeConfigItemRow['kind'];

export interface EdgeConfigSettings {
  readonly allowPrivateTargets: readonly string[];
  readonly openInbound: boolean;
  /** The ceiling of organizations without one set by the operator. */
  readonly callLimits: CallCeiling;
}

/** The edges' configuration, subscribed to every write to the catalogue. */
export function followCatalogue(
  catalogue: Catalogue,
  database: Database,
  secrets: SecretBox,
  settings: EdgeConfigSettings,
  bus: Bus,
): EdgeConfigStore {
  const store = new EdgeConfigStore(database, catalogue, secrets, settings, bus.topic('edge-config'));
  bus.onMissed(() => store.notify());
  catalogue.follow((db, altered) => store.publish(db, altered));
  return store;
}

export class EdgeConfigStore {
  readonly #database: Database;
  readonly #catalogue: Catalogue;
  readonly #secrets: SecretBox;
  readonly #settings: EdgeConfigSettings;
  /** Told to other replicas: they send it to their edges. */
  readonly #published: Topic<null>;
  readonly #listeners = new Set<() => void>();
  readonly #whole = new NewestRead<Shared<EdgeConfig>>();
  readonly #changes = new NewestRead<Shared<EdgeConfigChange>>();

  constructor(
    database: Database,
    catalogue: Catalogue,
    secrets: SecretBox,
    settings: EdgeConfigSettings,
    published: Topic<null>,
  ) {
    this.#database = database;
    this.#catalogue = catalogue;
    this.#secrets = secrets;
    this.#settings = settings;
    this.#published = published;
    published.on(() => this.notify());
  }

  /** Publishes what a write changed, in its transaction; the edges get it after the commit. */
  async publish(db: Db, altered: Altered): Promise<void> {
    const version = await this.#store(db, altered);
    if (version === null) return;
    await this.#published.publish(db, null);
    altered.afterCommit(() => this.notify());
  }

  /** Has the links send what their edges do not have yet. */
  notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Publishes what a release that changes the form of elements, or other settings, make different. Call before edges
   * connect. What is as it was is only read, so that the start of a replica keeps no other one from writing.
   */
  async publishAll(): Promise<void> {
    const different = await this.#reading(async (db) => this.#changed(db, await everything(db)));
    if (different.length === 0) return;
    await this.#catalogue.change(async (_, altered) => {
      for (const { kind, key } of different) {
        if (kind === 'organization') altered.organizations.add(key);
        if (kind === 'number') altered.numbers.add(key);
        if (kind === 'pathway') altered.pathways.add(pathwayOf(key));
        if (kind === 'settings') altered.settings = true;
      }
    });
  }

  /** Calls `listener` after every published change. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The version of the newest element. */
  version(db: Db = this.#database.db): Promise<number> {
    return newestVersion(db);
  }

  /** The whole current configuration. @param edgeId the edge that gets it; absent: none, for tests */
  async snapshot(edgeId = ''): Promise<EdgeConfig> {
    const version = await this.version();
    const { content, own } = await this.#whole.get(String(version), () => this.#readWhole());
    return { ...content, ...own(edgeId) };
  }

  /** Changes after `from`, for one edge. Correct only for a version that this process has sent. */
  async changesSince(from: number, edgeId: string): Promise<EdgeConfigChange> {
    const version = await this.version();
    const { content, own } = await this.#changes.get(`${from} to ${version}`, () => this.#readSince(from));
    return { ...content, ...own(edgeId) };
  }

  #readWhole(): Promise<Shared<EdgeConfig>> {
    return this.#reading(async (db) => {
      const rows = await db
        .selectFrom('edge_config_items')
        .selectAll()
        .where('content', 'is not', null)
        .execute();
      const content = {
        version: await this.version(db),
        ...this.#contents(rows),
        ...this.#deployment(),
        trusted_proxies: [],
        draining: false,
      };
      return { content, own: wishesIn(rows) };
    });
  }

  #readSince(from: number): Promise<Shared<EdgeConfigChange>> {
    return this.#reading(async (db) => {
      const rows = await db.selectFrom('edge_config_items').selectAll().where('version', '>', from).execute();
      const removed = (kind: Kind) =>
        rows.filter((row) => row.kind === kind && row.content === null).map((row) => row.key);
      const content = {
        from_version: from,
        version: await this.version(db),
        ...this.#contents(rows),
        removed_organizations: removed('organization'),
        removed_numbers: removed('number'),
        removed_pathways: removed('pathway'),
      };
      return { content, own: wishesIn(rows) };
    });
  }

  #reading<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#database.db.transaction().setAccessMode('read only').execute(work);
  }

  /** Returns the new version; null: nothing changed. */
  async #store(db: Db, altered: Altered): Promise<number | null> {
    const changed = await this.#changed(db, altered);
    if (changed.length === 0) return null;
    const version = await nextVersion(db);
    for (const item of changed) await storeItem(db, item, version);
    return version;
  }

  /** The elements that are different from what is published. */
  async #changed(db: Db, altered: AlteredKeys): Promise<Item[]> {
    const present: Item[] = [];
    const pathways = new Set(altered.pathways);
    for (const id of altered.organizations) present.push(await organizationItem(db, id));
    // When a number starts to use a pathway version, the edges need that version.
    for (const number of altered.numbers) {
      const { item, pathwayId } = await numberItem(db, number);
      present.push(item);
      if (pathwayId !== null) pathways.add(pathwayId);
    }
    for (const id of pathways) present.push(...(await pathwayItems(db, id)));
    for (const id of altered.edges) present.push(await edgeItem(db, id));
    if (altered.proxies) present.push(await proxiesItem(db));
    if (altered.settings) {
      // The deployment's ceiling is added when elements are sent: another process may have other settings.
      const content = toJson({ ...this.#deployment(), call_limits: this.#settings.callLimits });
      present.push({ kind: 'settings', key: 'deployment', content });
    }
    const changed: Item[] = [];
    for (const item of present) if ((await storedContent(db, item)) !== item.content) changed.push(item);
    return changed;
  }

  #deployment(): Pick<EdgeConfig, 'allowed_private_targets' | 'open_inbound'> {
    return {
      allowed_private_targets: [...this.#settings.allowPrivateTargets],
      open_inbound: this.#settings.openInbound,
    };
  }

  #contents(rows: readonly EdgeConfigItemRow[]): Pick<EdgeConfig, 'organizations' | 'numbers' | 'pathways'> {
    const organizations: OrgConfig[] = [];
    const numbers: NumberConfig[] = [];
    const pathways: PathwayConfig[] = [];
    for (const { kind, key, content } of rows) {
      if (content === null) continue;
      if (kind === 'number') {
        const stored = fromJson<NumberConfig>(content);
        const open = (trunk: Parameters<typeof openPassword>[1]) => openPassword(this.#secrets, trunk) ?? '';
        numbers.push(openTrunks(stored, open, (input) => this.#secrets.derive(input)));
      } else if (kind === 'pathway') pathways.push(fromJson<PathwayConfig>(content));
      else if (kind === 'organization') {
        const { call_ceiling, phones, ...stored } = fromJson<StoredOrganization>(content);
        // Stored sealed; opened when sent to an edge.
        const signing_secret = this.#secrets.open(stored.signing_secret, signingSecretContext(key));
        const call_limits = limitsInForce(
          stored.call_limits,
          ceilingOf(call_ceiling ?? null, this.#settings.callLimits),
        );
        const { realtime } = stored;
        organizations.push({
          ...stored,
          signing_secret,
          phones: openPhones(phones, key, (input) => this.#secrets.derive(input)),
          ...(call_limits && { call_limits }),
          ...(realtime && { realtime: openConnections(realtime, key, this.#secrets) }),
        });
      }
    }
    return { organizations, numbers, pathways };
  }
}

/** What all edges get, and what the operator decided about one of them. */
interface Shared<T> {
  readonly content: T;
  own(edgeId: string): Wishes;
}

type Wishes = Pick<EdgeConfig, 'trusted_proxies' | 'draining'>;

/** What the operator decided about an edge, as far as `rows` say something about it. */
function wishesIn(rows: readonly EdgeConfigItemRow[]): (edgeId: string) => Wishes {
  const ofEdges = new Map(rows.flatMap((row) => (row.kind === 'edge' ? [[row.key, row.content]] : [])));
  const proxies = rows.find(({ kind }) => kind === 'proxies')?.content;
  const all = proxies ? { trusted_proxies: fromJson<string[]>(proxies) } : {};
  return (edgeId) => {
    const own = ofEdges.get(edgeId);
    if (own === undefined) return all;
    return { ...all, draining: own !== null && fromJson<{ draining: boolean }>(own).draining };
  };
}

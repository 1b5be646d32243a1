import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { EdgeConfig, EdgeConfigChange } from '#shared/edge-protocol/config.ts';
import type { SecretBox } from '#shared/secret-box.ts';
import { storageFault } from '#shared/storage-fault.ts';
import { isFrame } from './valid-frame.ts';

/** A change whose base version is not the current one; the full configuration is needed. */
export class ConfigGap extends Error {
  override readonly name = 'ConfigGap';
}

/** The configuration with one change applied. @throws ConfigGap when the versions do not match */
export function applyChange(config: EdgeConfig, change: EdgeConfigChange): EdgeConfig {
  if (config.version !== change.from_version) {
    throw new ConfigGap(
      `the change starts at version ${change.from_version}, the edge has ${config.version}`,
    );
  }
  const pathwayKey = (pathway: { pathway_id: string; version: number }) =>
    `${pathway.pathway_id}@${pathway.version}`;
  const { trusted_proxies, draining } = change;
  return {
    ...config,
    ...(trusted_proxies && { trusted_proxies }),
    ...(draining !== undefined && { draining }),
    version: change.version,
    organizations: merge(
      config.organizations,
      change.organizations,
      change.removed_organizations,
      (o) => o.org_id,
    ),
    numbers: merge(config.numbers, change.numbers, change.removed_numbers, (n) => n.number),
    pathways: merge(config.pathways, change.pathways, change.removed_pathways, pathwayKey),
  };
}

function merge<T>(
  kept: readonly T[],
  altered: readonly T[],
  removed: readonly string[],
  key: (each: T) => string,
): T[] {
  if (altered.length === 0 && removed.length === 0) return [...kept];
  const byKey = new Map(kept.map((each) => [key(each), each]));
  for (const each of removed) byKey.delete(each);
  for (const each of altered) byKey.set(key(each), each);
  return [...byKey.values()];
}

/** Why the stored configuration cannot be used; control sends a new one. */
export type Unusable = 'damaged' | 'encrypted with another key';

const context = 'edge configuration';

/**
 * Stores the last configuration in a file, so that an edge takes calls while control is away. The file contains trunk
 * passwords and signing secrets, so it is encrypted.
 */
export class ConfigStore {
  readonly #path: string;
  readonly #secrets: SecretBox;
  readonly #unusable: (why: Unusable, path: string) => void;

  /** @param unusable called when the file exists and cannot be used */
  constructor(path: string, secrets: SecretBox, unusable: (why: Unusable, path: string) => void = () => {}) {
    this.#path = path;
    this.#secrets = secrets;
    this.#unusable = unusable;
  }

  /**
   * The stored configuration; null when there is none or the file is unusable (control will send a new one). A
   * clear-text file from an earlier version is encrypted at once.
   */
  load(): EdgeConfig | null {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const inClear = text.startsWith('{');
    let json = text;
    try {
      if (!inClear) json = this.#secrets.open(text, context);
    } catch {
      this.#unusable('encrypted with another key', this.#path);
      return null;
    }
    const config = configOf(json);
    if (config === null) this.#unusable('damaged', this.#path);
    else if (inClear) this.#sealEarlier(config);
    return config;
  }

  /** Replaces the file atomically: after a crash it contains the old configuration or the new one. */
  save(config: EdgeConfig): void {
    const draft = `${this.#path}.new`;
    // A draft left by a crash may have wider permissions.
    rmSync(draft, { force: true });
    try {
      writeFileSync(draft, this.#secrets.seal(JSON.stringify(config), context), { mode: 0o600 });
      renameSync(draft, this.#path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }

  #sealEarlier(config: EdgeConfig): void {
    try {
      this.save(config);
    } catch (error) {
      // The next configuration is encrypted.
      if (storageFault(error) === null) throw error;
    }
  }
}

function configOf(json: string): EdgeConfig | null {
  try {
    const value: unknown = JSON.parse(json);
    const frame: unknown = { type: 'config', config: value };
    return isFrame(frame) && frame.type === 'config' ? frame.config : null;
  } catch {
    return null;
  }
}

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Compile } from 'typebox/compile';
import { EdgeConfig, type EdgeConfigChange } from '#shared/edge-protocol/config.ts';

const validConfig = Compile(EdgeConfig);

/** A change that does not follow on the configuration at hand; the whole one is needed. */
export class ConfigGap extends Error {
  override readonly name = 'ConfigGap';
}

/** The configuration with one change applied. @throws ConfigGap when the versions do not meet */
export function applyChange(config: EdgeConfig, change: EdgeConfigChange): EdgeConfig {
  if (config.version !== change.from_version) {
    throw new ConfigGap(
      `the change starts at version ${change.from_version}, the edge has ${config.version}`,
    );
  }
  const pathwayKey = (pathway: { pathway_id: string; version: number }) =>
    `${pathway.pathway_id}@${pathway.version}`;
  return {
    ...config,
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

/** Keeps the last configuration in a file, so that an edge takes calls although control is away. */
export class ConfigStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The kept configuration; null when there is none or the file is unreadable (a new one will come). */
  load(): EdgeConfig | null {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    try {
      const value: unknown = JSON.parse(text);
      return validConfig.Check(value) ? value : null;
    } catch {
      return null;
    }
  }

  /** Replaces the file in one step: a crash leaves the old configuration or the new one, never half of one. */
  save(config: EdgeConfig): void {
    const draft = `${this.#path}.new`;
    // The configuration holds signing secrets: for the owner alone.
    writeFileSync(draft, JSON.stringify(config), { mode: 0o600 });
    renameSync(draft, this.#path);
  }
}

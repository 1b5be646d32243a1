/** Which version of a pathway is meant. Pure. */

/** Versions of a pathway that are in force; null: never published. */
export interface PublishedVersions {
  readonly production: number | null;
  readonly staging: number | null;
}

/** The version that a number means: production where it names none, the live graph (0) when unpublished. */
export function resolveVersion(wanted: string | null, published: PublishedVersions | null): number {
  const production = published?.production ?? 0;
  if (wanted === null || wanted === 'production') return production;
  if (wanted === 'staging') return published?.staging ?? production;
  return Number(wanted);
}

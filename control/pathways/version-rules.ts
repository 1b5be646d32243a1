/** Resolves versions of a pathway. Pure. */

/** Active versions of a pathway; null: never published. */
export interface PublishedVersions {
  readonly production: number | null;
  readonly staging: number | null;
}

/** The version that a number uses: production by default, the live graph (0) when unpublished. */
export function resolveVersion(wanted: string | null, published: PublishedVersions | null): number {
  const production = published?.production ?? 0;
  if (wanted === null || wanted === 'production') return production;
  if (wanted === 'staging') return published?.staging ?? production;
  return Number(wanted);
}

/** Parts of the screen of a pathway's quality that have an address of their own. */
import { pathTo, withQuery } from '../../router.ts';

/** Where the gate of a version is shown. */
export function gatePlace(pathway: string, version: number): string {
  return withQuery(pathTo('pathwayQuality', pathway), { version: String(version) });
}

export function sessionPlace(pathway: string, session: string): string {
  return withQuery(pathTo('pathwayQuality', pathway), { session });
}

/**
 * How much address space one organization lists in `allowed_ips`. A source listed by any number is known to the whole
 * edge, so an organization that listed the whole Internet in pieces would leave no unknown sources, and so disable the
 * limits for them. Very wide networks are not counted: they make no source known, and `checkWideSources` checks them.
 */

import { type AddressSpace, spaceOf } from '#shared/address-space.ts';
import { counted } from '#shared/counted.ts';
import { ApiError } from '#shared/errors.ts';
import { isWide } from '#shared/networks.ts';
import { type Db, fromJson, type SipConfigurationRow } from '../db/index.ts';
import { findOrganization } from '../organizations/index.ts';
import type { DirectionEntry } from './directions.ts';
import { findConfigurations, listAllowedSources } from './store.ts';

/** Four /16: some carriers publish a few /20 to /24, large ones one or two /16. */
const mostIpv4Addresses = 4 * 65_536;
/** Four /32, counted in /64: a /32 is what a network operator gets. */
const mostIpv6Networks = 4 * 2 ** 32;
/** Two for each of 10,000 numbers: each entry costs the edge memory, however small its network. */
const mostSourceEntries = 20_000;

interface Listed extends AddressSpace {
  readonly entries: number;
}

type Sources = Pick<SipConfigurationRow, 'allowed_ips'>;

interface SourceChange {
  readonly orgId: string;
  readonly number: string;
  /** All records of the number, before and after. */
  readonly stored: readonly Sources[];
  readonly drafts: readonly Sources[];
  /** The request's entries, for the error. */
  readonly sent: readonly DirectionEntry[];
  /** A number that got the same entries earlier in the same request. */
  readonly before?: string | undefined;
}

/**
 * Checks what the number's records will list. What the organization already lists stays allowed. Call it in the
 * transaction that writes.
 * @throws ApiError INVALID_PARAMETER
 */
export async function checkSourceSpace(db: Db, change: SourceChange): Promise<void> {
  const { orgId, number, stored, drafts, sent, before } = change;
  const wanted = sourcesOf(drafts);
  if (isPart(wanted, sourcesOf(stored))) return;
  if (before !== undefined && isPart(wanted, sourcesOf(await findConfigurations(db, orgId, before)))) return;
  if ((await findOrganization(db, orgId)).wide_sources === 1) return;
  const others = await sourcesOfOthers(db, orgId, number);
  const after = listed(new Set([...others, ...wanted]));
  if (problemOf(after) === null) return;
  const had = listed(new Set([...others, ...sourcesOf(stored)]));
  const problem = problemOf(after, had);
  if (problem === null) return;
  const path = sent.find(({ given }) => given.type === 'inbound' && given.options?.allowed_ips)?.path ?? '';
  throw ApiError.invalid(
    `${path}/options/allowed_ips`,
    `${problem}: list the networks that you really use, or ask the operator of this service to permit more`,
  );
}

/** @param had what is already listed: as much stays allowed */
function problemOf(after: Listed, had: Listed = { ipv4: 0, ipv6: 0, entries: 0 }): string | null {
  const all = 'all numbers of the organization together list at most';
  const exceeds = (what: keyof Listed, most: number) => after[what] > most && after[what] > had[what];
  if (exceeds('ipv4', mostIpv4Addresses))
    return `${all} ${mostIpv4Addresses} IPv4 addresses (four /16), and would list ${after.ipv4}`;
  if (exceeds('ipv6', mostIpv6Networks))
    return `${all} ${mostIpv6Networks} IPv6 networks of /64 (four /32), and would list ${after.ipv6}`;
  if (exceeds('entries', mostSourceEntries))
    return `${all} ${mostSourceEntries} different addresses and networks, and would list ${after.entries}`;
  return null;
}

function listed(sources: ReadonlySet<string>): Listed {
  const narrow = [...sources].filter((source) => !isWide(source));
  return { ...spaceOf(narrow), entries: narrow.length };
}

function sourcesOf(rows: readonly Sources[]): ReadonlySet<string> {
  return new Set(
    rows.flatMap(({ allowed_ips }): string[] => (allowed_ips === null ? [] : fromJson(allowed_ips))),
  );
}

function isPart(sources: ReadonlySet<string>, of: ReadonlySet<string>): boolean {
  return [...sources].every((source) => of.has(source));
}

/** What the organization's other numbers list. */
async function sourcesOfOthers(db: Db, orgId: string, number: string): Promise<string[]> {
  const rows = await db
    .selectFrom('sip_configurations')
    .select('allowed_ips')
    .distinct()
    .where('org_id', '=', orgId)
    .where('number', '<>', number)
    .where('allowed_ips', 'is not', null)
    .execute();
  return [...sourcesOf(rows)];
}

/** Organizations that list more than is allowed without permission, permitted or from before the limit. */
export async function listLargeSources(
  db: Db,
): Promise<{ org_id: string; listed: string; permitted: boolean }[]> {
  const organizations = new Map<string, { sources: Set<string>; permitted: boolean }>();
  for (const row of await listAllowedSources(db)) {
    const known = organizations.get(row.org_id) ?? { sources: new Set(), permitted: row.wide_sources === 1 };
    for (const source of sourcesOf([row])) known.sources.add(source);
    organizations.set(row.org_id, known);
  }
  return [...organizations].flatMap(([org_id, { sources, permitted }]) => {
    const space = listed(sources);
    if (problemOf(space) === null) return [];
    const text = `${counted(space.entries, 'entry', 'entries')}: ${space.ipv4} IPv4 addresses, ${space.ipv6} IPv6 /64`;
    return [{ org_id, listed: text, permitted }];
  });
}

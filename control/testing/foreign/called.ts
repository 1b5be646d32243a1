/** Agents of others that are reached over a call: what an edge needs to call one, and whether it may. */
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import type { Db, SecretBox, TestAgentRow } from '../../db/index.ts';
import type { RegionWish } from '../../edge-link/index.ts';
import { RateLimiter } from '../../http/index.ts';
import { agentSettingsOf } from '../../numbers/index.ts';
import { findOrganization, requireConnection, storedConnections } from '../../organizations/index.ts';
import type { SharedCounts } from '../../replicas/index.ts';
import { findConfigurations, noOutboundRoute, regionWish } from '../../trunks/index.ts';
import type { CallTarget } from '../over-call/over-call.ts';
import { type ForeignSettings, headersOf, settingsOf } from './rules.ts';

/** A bot behind a WebSocket has no number; it is called by this name. */
const botName = 'tested-agent';

/**
 * What the settings name must exist: a connection, or a number with a trunk that calls out.
 * @throws ApiError INVALID_PARAMETER, NO_OUTBOUND_ROUTE
 */
export async function checkReferences(
  db: Db,
  orgId: string,
  { connection, from }: Pick<ForeignSettings, 'connection' | 'from'>,
): Promise<void> {
  if (connection !== null)
    requireConnection(storedConnections(await findOrganization(db, orgId)), connection, '/connection');
  if (from !== null) await requireTrunk(db, orgId, from);
}

async function requireTrunk(db: Db, orgId: string, from: string) {
  const trunk = (await findConfigurations(db, orgId, from)).find(({ direction }) => direction === 'outbound');
  if (!trunk) throw noOutboundRoute(from, '/from');
  return trunk;
}

/** @throws ApiError TEST_AGENT_NOT_PROVEN */
export function requireProven(agent: Pick<TestAgentRow, 'settings' | 'proven_at'>): void {
  if (settingsOf(agent).format === 'call' && agent.proven_at === null)
    throw ApiError.of('TEST_AGENT_NOT_PROVEN');
}

/**
 * How an edge calls the agent, and in which region it should be.
 * @throws ApiError INVALID_PARAMETER, NO_OUTBOUND_ROUTE when what its settings name is gone
 */
export async function calledAgent(
  db: Db,
  agent: TestAgentRow,
  secrets: SecretBox,
): Promise<{ readonly target: CallTarget; readonly wish: RegionWish | null }> {
  const settings = settingsOf(agent);
  await checkReferences(db, agent.org_id, settings);
  const { connection, from, instructions, to, url } = settings;
  if (from !== null && to !== null) {
    const headers = Object.fromEntries(headersOf(agent, secrets).map(({ name, value }) => [name, value]));
    return {
      target: { number: from, to, headers },
      wish: await regionWish(db, await requireTrunk(db, agent.org_id, from)),
    };
  }
  const manner = agentSettingsOf({});
  const bot =
    connection === null
      ? { kind: 'stream' as const, stream_url: url ?? '', ...manner }
      : { kind: 'realtime' as const, connection_id: connection, prompt: instructions ?? '', ...manner };
  return { target: { number: botName, agent: bot }, wish: null };
}

/** Share of the time for a run that it may wait for its turn; the rest is for its call. */
const waitingShare = 0.5;

/**
 * The most runs that may be under way at once, so that none waits too long for its turn; null: none waits.
 * @param runMs that a run may take, with its waiting
 */
export function mostAtOnce({ calls_per_minute, to }: ForeignSettings, runMs: number): number | null {
  return to === null ? null : Math.floor((waitingShare * runMs * (calls_per_minute ?? 1)) / 60_000);
}

/**
 * Whose telephone rings, however the target is written: parameters, port and case of a SIP URI are left out. An extension
 * is that of a number's trunk: the same digits elsewhere are another telephone.
 */
export function telephoneOf({ from, to }: { readonly from?: string | null; readonly to: string }): string {
  if (/^sips?:/i.test(to)) {
    const uri = parseSipDestination(to);
    const [user = ''] = decoded(uri?.user ?? '').split(/[:;?]/, 1);
    return uri ? `sip:${user.toLowerCase()}@${uri.host}` : to;
  }
  return to.startsWith('+') ? to : `${from ?? ''} ${to}`;
}

type Telephone = Pick<ForeignSettings, 'from' | 'to'>;

/** Whether what was proven for one holds for the other: the same text, and of an extension the same trunk. */
export function hasSameTelephone(one: Telephone, other: Telephone): boolean {
  if (one.to === null || other.to === null) return one.to === other.to;
  return (
    one.to === other.to && telephoneOf({ ...one, to: one.to }) === telephoneOf({ ...other, to: other.to })
  );
}

function decoded(user: string): string {
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}

/** Calls to agents of others, counted by what is called, of all organizations and replicas together. */
export class CalledTargets {
  readonly #clock: Clock;
  readonly #calls: RateLimiter;

  constructor(clock: Clock, counts: SharedCounts) {
    this.#clock = clock;
    this.#calls = new RateLimiter(clock, counts.as('tested agents'));
  }

  /** Resolves when the target may be called. Rejects with the reason of `signal` when that is aborted. */
  async turn({ calls_per_minute: limit, from, to }: ForeignSettings, signal: AbortSignal): Promise<void> {
    if (to === null) return;
    const limits = [{ scope: 'tested_agent', limit: limit ?? 1, windowSeconds: 60 }];
    for (;;) {
      signal.throwIfAborted();
      const { refused, resetSeconds } = await this.#calls.take(telephoneOf({ from, to }), limits);
      if (!refused) return;
      await this.#pause(resetSeconds * 1000, signal);
    }
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const over = () => {
        signal.removeEventListener('abort', over);
        timer.cancel();
        resolve();
      };
      const timer = this.#clock.after(ms, over);
      signal.addEventListener('abort', over);
    });
  }
}

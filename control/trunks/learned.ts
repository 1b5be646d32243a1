/** What edges learn from each other about trunks: from reports, and from what is stored. */
import type { LearnedProbe, LearnedRegistration, TrunkMove } from '#shared/edge-protocol/fleet.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { type Db, type EdgeRow, fromJson, type RegistrationRow } from '../db/index.ts';
import { usableEndpoints } from './config-rules.ts';

/** The probes of a report that others should know: one of each endpoint, the last. */
export function learnedProbes(probes: readonly HealthProbe[]): LearnedProbe[] {
  const news = probes
    .filter(({ changed }) => changed === true)
    .map(({ endpoint, healthy, consecutive_failures }) => ({ endpoint, healthy, consecutive_failures }));
  return [...new Map(news.map((probe) => [`${probe.endpoint.host} ${probe.endpoint.port}`, probe])).values()];
}

type Reporter = Pick<EdgeRow, 'id' | 'sip_host' | 'sip_port'>;
type StoredRegistration = Pick<RegistrationRow, 'configuration_id' | 'state' | 'at' | 'bound_at' | 'refusal'>;

export function learnedRegistration(row: StoredRegistration, edge: Reporter): LearnedRegistration {
  return {
    trunk_id: row.configuration_id,
    registered: row.state === 'registered',
    edge: { id: edge.id, host: edge.sip_host, port: edge.sip_port },
    at: row.at,
    bound_at: row.bound_at,
    refusal: row.refusal === null ? null : fromJson(row.refusal),
  };
}

interface LearnedState {
  readonly probes: LearnedProbe[];
  readonly moves: TrunkMove[];
  readonly registrations: LearnedRegistration[];
}

/** All that an edge must know that has just connected. */
export async function learnedState(db: Db): Promise<LearnedState> {
  return {
    probes: await unreachable(db),
    moves: await movedTrunks(db),
    registrations: await registrations(db),
  };
}

async function unreachable(db: Db): Promise<LearnedProbe[]> {
  const rows = await db
    .selectFrom('trunk_endpoints')
    .select(['host', 'port'])
    .select(({ fn }) => fn.max('consecutive_failures').as('failures'))
    .where('healthy', '=', 0)
    .groupBy(['host', 'port'])
    .execute();
  return rows.map(({ host, port, failures }) => ({
    endpoint: { host, port, priority: 0 },
    healthy: false,
    consecutive_failures: Number(failures),
  }));
}

/** The trunks whose next call does not try their primary first. */
async function movedTrunks(db: Db): Promise<TrunkMove[]> {
  const rows = await db
    .selectFrom('trunk_endpoints')
    .innerJoin('sip_configurations', 'sip_configurations.id', 'trunk_endpoints.configuration_id')
    .selectAll('sip_configurations')
    .select(['trunk_endpoints.host as active_host', 'trunk_endpoints.port as active_port'])
    .where('trunk_endpoints.active', '=', 1)
    .where('sip_configurations.failover_config', 'is not', null)
    .execute();
  return rows.flatMap(({ active_host, active_port, ...record }) => {
    const active = usableEndpoints(record).find(
      ({ host, port }) => host === active_host && port === active_port,
    );
    return active && active.priority > 0 ? [{ trunk_id: record.id, active_priority: active.priority }] : [];
  });
}

async function registrations(db: Db): Promise<LearnedRegistration[]> {
  const rows = await db
    .selectFrom('registrations')
    .innerJoin('edges', 'edges.id', 'registrations.edge_id')
    .select(['configuration_id', 'state', 'at', 'bound_at', 'refusal'])
    .select(['edges.id', 'edges.sip_host', 'edges.sip_port'])
    .execute();
  return rows.map((row) => learnedRegistration(row, row));
}

/** What is stored about the edges themselves. */
import type { Clock } from '#shared/clock.ts';
import type { EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { builtOnce, type Db, type EdgeRow, isAmong, toJson } from '../db/index.ts';

/** What the operator decides about an edge. */
export type EdgePlan = Readonly<Pick<EdgeRow, 'region' | 'weight' | 'draining_since'>>;

/** Its place among the replicas. */
type Linkage = Pick<EdgeRow, 'replica_id' | 'link_epoch' | 'applied_version' | 'gauges'>;

const unlinked: Linkage = { replica_id: null, link_epoch: 0, applied_version: 0, gauges: null };

export const newEdge: EdgePlan = { region: null, weight: 100, draining_since: null };

export async function planOf(db: Db, edgeId: string): Promise<EdgePlan> {
  const row = await db
    .selectFrom('edges')
    .select(['region', 'weight', 'draining_since'])
    .where('id', '=', edgeId)
    .executeTakeFirst();
  return row ?? newEdge;
}

/** Whether the edge had another outbox when it connected last. */
export async function hadOtherOutbox(
  db: Db,
  { edge_id, outbox_id }: Extract<EdgeToControl, { type: 'hello' }>,
): Promise<boolean> {
  const row = await db
    .selectFrom('edges')
    .select('id')
    .where('id', '=', edge_id)
    .where('outbox_id', '!=', outbox_id)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores what an edge reports about itself when it connects. */
export async function rememberEdge(
  db: Db,
  clock: Clock,
  hello: Extract<EdgeToControl, { type: 'hello' }>,
): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const { id, ...facts }: Omit<EdgeRow, keyof EdgePlan | keyof Linkage> = {
    id: hello.edge_id,
    outbox_id: hello.outbox_id,
    sip_host: hello.sip.host,
    sip_port: hello.sip.port,
    wss_port: hello.sip.wss_port ?? null,
    rtp_ip: hello.rtp.ip,
    rtp_port_min: hello.rtp.port_min,
    rtp_port_max: hello.rtp.port_max,
    codecs: toJson(hello.codecs),
    software: hello.software,
    connected_at: now,
    last_seen_at: now,
  };
  await db
    .insertInto('edges')
    .values({ id, ...facts, ...newEdge, ...unlinked })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(facts))
    .execute();
}

const seen = builtOnce((db, last_seen_at: string, ids: readonly string[]) =>
  db
    .updateTable('edges')
    .set({ last_seen_at })
    .where(isAmong(db, 'id', ids)),
);

export async function seeEdges(db: Db, clock: Clock, edgeIds: readonly string[]): Promise<void> {
  await seen(db, new Date(clock.now()).toISOString(), edgeIds);
}

/** Addresses per region in one answer. */
const mostAddresses = 100;

/** Media addresses of the edges that serve a region and were connected since then. @param since ISO */
export async function addressesIn(db: Db, region: string, since: string): Promise<string[]> {
  const rows = await db
    .selectFrom('edges')
    .select('rtp_ip')
    .distinct()
    .where((eb) => eb.or([eb('region', 'is', null), eb('region', '=', region)]))
    .where('last_seen_at', '>=', since)
    .orderBy('rtp_ip')
    .limit(mostAddresses)
    .execute();
  return rows.map((row) => row.rtp_ip);
}

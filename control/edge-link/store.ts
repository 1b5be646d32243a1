/** What is stored about the edges themselves. */
import type { Clock } from '#shared/clock.ts';
import type { EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { type Db, type EdgeRow, toJson } from '../db/index.ts';

/** Stores what an edge reports about itself when it connects. */
export async function rememberEdge(
  db: Db,
  clock: Clock,
  hello: Extract<EdgeToControl, { type: 'hello' }>,
): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const { id, ...facts }: EdgeRow = {
    id: hello.edge_id,
    outbox_id: hello.outbox_id,
    sip_host: hello.sip.host,
    sip_port: hello.sip.port,
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
    .values({ id, ...facts })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(facts))
    .execute();
}

export async function seeEdge(db: Db, clock: Clock, edgeId: string): Promise<void> {
  await db
    .updateTable('edges')
    .set({ last_seen_at: new Date(clock.now()).toISOString() })
    .where('id', '=', edgeId)
    .execute();
}

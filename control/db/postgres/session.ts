/**
 * What each connection asks of the server first. So that statements mean the same whatever is set for the user or the
 * database: above all, each statement of a transaction sees what was committed before it (dialect.ts). And so that the
 * server lets go of a client that hangs or has vanished without a word. Such a client may be in a transaction that holds
 * the order of all writes: without this every other control plane would wait for it, by the kernel's defaults for two
 * hours.
 * https://www.postgresql.org/docs/15/runtime-config-client.html,
 * https://www.postgresql.org/docs/15/runtime-config-connection.html
 */
import type pg from 'pg';

/**
 * A transaction whose client sends nothing for so long is rolled back, and its session ended. Longer than a lease, so
 * what others take over is theirs before they can write.
 */
const idleInTransactionMs = 5_000;
/** Of a client whose machine or network is gone: what it does not acknowledge, and when it is asked. */
const unacknowledgedMs = 10_000;
const keepalive = { idleS: 5, intervalS: 2, probes: 3 };
/** How often the server looks whether a client whose statement waits or runs is still there. */
const clientCheckMs = 2_000;

const settings: Readonly<Record<string, number | string>> = {
  default_transaction_isolation: 'read committed',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  // Numbers are read back as they were stored.
  extra_float_digits: 1,
  idle_in_transaction_session_timeout: idleInTransactionMs,
  tcp_user_timeout: unacknowledgedMs,
  tcp_keepalives_idle: keepalive.idleS,
  tcp_keepalives_interval: keepalive.intervalS,
  tcp_keepalives_count: keepalive.probes,
};
const statement = `select pg_backend_pid() as pid, ${Object.entries(settings)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ')}`;

const clientCheck = `set client_connection_check_interval = ${clientCheckMs}`;

/** A connection on which the server has not answered by then is of no use. */
const answerMs = 10_000;

/** Processes of the server, as it knows them itself: a pooler between makes up others in its greeting. */
const processes = new WeakMap<object, number>();

/** The process of the server behind a connection. */
export const processOf = (client: object): number | null => processes.get(client) ?? null;

/** For `onConnect` of a pool. A pooler hands these settings through; in its start-up packet it would reject them. */
export async function beginSession(client: pg.ClientBase): Promise<void> {
  const limit = { query_timeout: answerMs };
  const { rows } = await client.query<{ pid: number }>({ text: statement, ...limit });
  if (rows[0]) processes.set(client, rows[0].pid);
  // Refused by servers on systems where a closed connection is not noticed so.
  await client.query({ text: clientCheck, ...limit }).catch(() => undefined);
}

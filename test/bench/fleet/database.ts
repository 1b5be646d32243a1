/** What PostgreSQL costs: CPU of all its processes, and rows and octets of tables. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { family } from '../../kit/programs/processes.ts';
import { cpuMs } from '../cpu-time.ts';

/** CPU time of the server so far, ms, with that of processes that have ended. */
export function serverCpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // proc(5): cutime and cstime, in ticks of 10 ms.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ended = (Number(fields[13]) + Number(fields[14])) * 10;
  return family(pid).reduce((sum, one) => sum + cpuMs(one), ended);
}

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  /** With indexes. */
  readonly bytes: number;
}

/** The tables of the database, partitions added up. */
export async function tableSizes(url: string): Promise<TableSize[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; bytes: string }>(
      `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    const sizes = new Map<string, TableSize>();
    for (const { name, bytes } of rows) {
      const table = name.replace(/_(\d{4}(_\d\d)+|undated)$/, '');
      const counted = await client.query<{ n: string }>(`select count(*) as n from "${name}"`);
      const before = sizes.get(table) ?? { table, rows: 0, bytes: 0 };
      const n = Number(counted.rows[0]?.n ?? 0);
      sizes.set(table, { table, rows: before.rows + n, bytes: before.bytes + Number(bytes) });
    }
    return [...sizes.values()];
  } finally {
    await client.end();
  }
}

/** The octets of write-ahead log written so far. */
export async function walBytes(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ n: string }>(`select pg_current_wal_lsn() - '0/0'::pg_lsn as n`);
  await client.end();
  return Number(rows[0]?.n ?? 0);
}

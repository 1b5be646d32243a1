/**
 * Creates a call log of millions of rows quickly: SQLite itself generates the rows in time order, and the indexes after
 * them. Like a long day of a large customer, with data that makes filters slow: one number has half of all calls, another
 * has only inbound calls, and some outcomes and codes are rare.
 */
import type SqliteFile from 'better-sqlite3';
import { allTrunks } from '../../control/calls/call-sums.ts';

export const callNumbers = {
  busiest: '+14155550000',
  /** Only inbound calls. */
  called: '+14155550001',
  ordinary: '+14155550500',
  silent: '+14155559999',
} as const;

/** Each with some of the numbers. */
const callTrunks = 20;
const days = 90;
export const logEndsAt = Date.UTC(2030, 0, 1);
export const logBeginsAt = logEndsAt - days * 24 * 60 * 60 * 1000;

/** Fills the call log of an organization. */
export function fillCallLog(connection: SqliteFile.Database, orgId: string, rows: number): void {
  connection.transaction(() => {
    const indexes = indexesOfCalls(connection);
    for (const { name } of indexes) connection.exec(`drop index ${name}`);
    connection.prepare(insertCalls).run({ orgId, rows, begins: logBeginsAt / 1000, seconds: days * 86_400 });
    for (const { sql } of indexes) connection.exec(sql);
    connection.exec(insertSums);
  })();
}

function indexesOfCalls(connection: SqliteFile.Database): { name: string; sql: string }[] {
  return connection
    .prepare<[], { name: string; sql: string }>(
      `select name, sql from sqlite_master where type = 'index' and tbl_name = 'calls' and sql is not null`,
    )
    .all();
}

/** `mixed` is fixed for each row, and adjacent rows differ in everything derived from it (Knuth's multiplier). */
const insertCalls = `
  with recursive
    counted(i) as (select 0 union all select i + 1 from counted where i + 1 < @rows),
    drawn as (select i, i * 2654435761 % 4294967296 as mixed from counted),
    calls_of_lines as (
      select i, mixed, mixed / 8 % 1000 as result,
        case when mixed % 100 < 50 then 0 when mixed % 100 < 60 then 1 else 2 + mixed / 100 % 998 end as line,
        strftime('%Y-%m-%dT%H:%M:%fZ', @begins + i * @seconds * 1.0 / @rows, 'unixepoch') as started_at
      from drawn)
  insert into calls (id, org_id, edge_id, sip_call_id, direction, from_number, to_number, number, trunk_id,
    source_ip, started_at, answered_at, ended_at, status, outcome, sip_code, sip_reason, termination, hangup_by,
    codec, media, agent_kind, pathway_id, pathway_version, max_duration, request_data, variables)
  select printf('00000000-0000-4000-8000-%012x', i), @orgId, 'edge-1', printf('%08x%08x@pbx.example.com', mixed, i),
    case when line = 1 or i % 2 = 0 then 'inbound' else 'outbound' end,
    '+14155550123', printf('+1415555%04d', line), printf('+1415555%04d', line),
    printf('a7c4f0b2-57d7-4c8e-9d3f-%012x', line % ${callTrunks}), '198.51.100.9',
    started_at, case when result < 700 then started_at end, started_at,
    case when result < 700 then 'completed' else 'failed' end,
    case when result < 700 then 'completed' when result < 800 then 'busy' when result < 900 then 'no_answer'
      when result < 999 then 'canceled' else 'failed' end,
    case when result < 700 then 200 when result < 799 then 486 when result < 800 then 600 when result < 900 then 480
      when result < 999 then 487 else 503 end,
    'OK', 'caller_hangup', 'peer', 'PCMU',
    '{"packets_sent":2250,"packets_received":2248,"packets_lost":2,"jitter_ms":3.1,"round_trip_ms":38,"mos":'
      || round(4.4 - 3.2 * (mixed / 7 % 1000) * (mixed / 7 % 1000) / 1000000.0, 2) || ',"verdict":"two_way","cause":null}',
    'pathway', '5f0d3c51-9f5c-4c0e-8f63-3e1f6d0b7a10', 1, 30, '{}', '{"digit":"1"}'
  from calls_of_lines`;

/** As they are counted with each call (control/calls/call-sums.ts). */
const insertSums = `
  insert into call_sums (org_id, unit, period, trunk_id, direction, mos, calls, answered, talk_ms)
  select org_id, 'hour', substr(started_at, 1, 13), trunk_id, direction,
    cast(round(json_extract(media, '$.mos') * 100) as integer), count(*), count(answered_at), 0
  from calls group by 1, 2, 3, 4, 5, 6;
  insert into call_sums select org_id, unit, period, '${allTrunks}', direction, mos, sum(calls), sum(answered), 0
  from call_sums where true group by 1, 2, 3, 4, 5, 6;
  insert into call_sums select org_id, 'day', substr(period, 1, 10), trunk_id, direction, mos, sum(calls), sum(answered), 0
  from call_sums where true group by 1, 2, 3, 4, 5, 6;`;

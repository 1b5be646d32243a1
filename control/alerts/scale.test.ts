import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { evaluate, minute, noRounds } from '../../test/kit/control/alerts.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { onDriver, planOf } from '../../test/kit/db/driver.ts';
import { onSqlite } from '../../test/kit/db/test-database.ts';
import { toJson } from '../db/index.ts';
import type { SipConfigurationRow } from '../db/tables.ts';
import { configurationsAfter, endedCalls } from './facts-store.ts';

let test: TestControl;
beforeEach(async () => {
  test = await startControl({}, {}, {}, { limits: noRounds });
});
afterEach(() => test.close());

const count = 10_000;
const id = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

function configuration(index: number): SipConfigurationRow {
  return {
    id: id(index),
    org_id: test.orgId,
    number: `+1415${String(index).padStart(7, '0')}`,
    direction: 'outbound',
    priority: 1,
    sip_endpoint: 'trunk.example.com',
    port: 5061,
    auth_mode: null,
    allowed_ips: null,
    transfer_mode: 'sip_only',
    username: null,
    password: null,
    realm: null,
    headers: null,
    failover_config: null,
    codec_config: null,
    alert_config: toJson({ enabled: true }),
    region_config: null,
    created_at: '2030-01-01T00:00:00.000Z',
    updated_at: '2030-01-01T00:00:00.000Z',
  };
}

/** Configurations with ten calls each; every hundredth is unreachable. */
async function fill(): Promise<void> {
  const { database } = test.control.services;
  for (let from = 0; from < count; from += 500) {
    const rows = Array.from({ length: 500 }, (_, step) => configuration(from + step));
    await database.db.insertInto('sip_configurations').values(rows).execute();
  }
  await onDriver(database.db, (connection) => {
    const endpoint = connection.prepare(
      `insert into trunk_endpoints
         (configuration_id, host, port, healthy, response_time_ms, checked_at, consecutive_failures, active)
       values (?, 'trunk.example.com', 5061, ?, 40, ?, 0, 1)`,
    );
    const run = connection.prepare(
      `insert into trunk_probe_runs values (?, 'trunk.example.com', 5061, ?, ?, '[40,40,40,40,40]')`,
    );
    const call = connection.prepare(
      `insert into calls (id, org_id, edge_id, sip_call_id, direction, from_number, to_number, number, trunk_id,
         started_at, ended_at, status, outcome, request_data, variables)
       values (?, ?, 'e', 'c', 'outbound', '', '', '', ?, ?, ?, 'completed', 'completed', '{}', '{}')`,
    );
    const now = new Date(test.clock.now()).toISOString();
    const long = new Date(test.clock.now() - 10 * minute).toISOString();
    connection.transaction(() => {
      for (let index = 0; index < count; index++) {
        const isDown = index % 100 === 0;
        endpoint.run(id(index), isDown ? 0 : 1, now);
        run.run(id(index), now, isDown ? long : null);
        for (let step = 0; step < 10; step++) call.run(`${index}-${step}`, test.orgId, id(index), now, now);
      }
    })();
  });
}

async function plan(query: {
  compile(): { sql: string; parameters: readonly unknown[] };
}): Promise<string[]> {
  const { sql, parameters } = query.compile();
  return planOf(test.control.services.database.db, sql, parameters);
}

describe.runIf(onSqlite)('an evaluation', () => {
  it('covers 10,000 configurations with 100,000 calls', async () => {
    await fill();
    await evaluate(test);
    const { db } = test.control.services.database;
    const alerts = await db.selectFrom('alerts').select('kind').execute();
    expect(alerts).toEqual(Array(count / 100).fill({ kind: 'unreachable' }));
  });

  it('counts calls from an index only, and reads only configurations with alerts', async () => {
    const { db } = test.control.services.database;
    expect(await plan(endedCalls(db, [id(1), id(2)], '2030-01-01T00:00:00.000Z'))).toEqual([
      'SEARCH calls USING COVERING INDEX calls_ended_by_trunk (trunk_id=? AND ended_at>?)',
    ]);
    expect(await plan(configurationsAfter(db, '', 10))).toEqual([
      'SEARCH sip_configurations USING INDEX sip_configurations_with_alerts (id>?)',
    ]);
  });
});

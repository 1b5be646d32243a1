import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type AuditEntry, AuditPage } from '#shared/api/audit.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { onSqlite } from '../../test/kit/db/test-database.ts';
import { changedFields, systemActor } from './rules.ts';
import { recordChange } from './store.ts';

const test = emptiedForEach(startRoutes);

const number = '+14155550100';

async function entries(query = '', key = test.key, path = '/v1/org/audit'): Promise<AuditEntry[]> {
  const answer = await test.call('GET', `${path}${query}`, { key });
  expect(answer.status).toBe(200);
  return answer.read(AuditPage).data.entries;
}

/** One change after another, a second apart. */
async function change(): Promise<void> {
  const attach = {
    phone_number: number,
    directions: ['inbound', { type: 'outbound', sip_endpoint: 'a.example' }],
  };
  const steps: ['POST' | 'PATCH', string, object][] = [
    ['POST', '/v1/sip/attach', attach],
    [
      'POST',
      '/v1/sip/update',
      { phone_number: number, updates: { type: 'outbound', options: { port: 5071 } } },
    ],
    [
      'PATCH',
      '/v1/sip/config',
      { phone_number: number, direction: 'inbound', codec_config: { codecs: ['PCMU'] } },
    ],
    ['POST', `/v1/inbound/${number}`, { prompt: 'Be kind.', label: 'Front' }],
    ['PATCH', '/v1/org/settings', { alert_emails: ['a@example.com'] }],
    ['POST', '/v1/org/webhook-secret', {}],
    ['POST', '/v1/sip/detach', { phone_number: number, directions: ['inbound', 'outbound'] }],
  ];
  for (const [method, url, body] of steps) {
    const answer = await test.call(method, url, {
      body,
      headers: { 'x-request-id': `r${url}`.replaceAll('/', '.') },
    });
    expect(answer.status).toBe(200);
    test.clock.advance(1000);
  }
}

describe('GET /v1/org/audit', () => {
  it('has for each change its author, its request and the fields, without their values', async () => {
    await change();
    const all = await entries();
    expect(all.map(({ area, action, changed_fields }) => [area, action, changed_fields.join()])).toEqual([
      ['sip', 'detach', 'inbound,outbound'],
      ['organization', 'replace_secret', 'signing_secret'],
      ['organization', 'update', 'alert_emails'],
      ['numbers', 'update', expect.stringContaining('label,')],
      ['sip', 'config', 'codec_config'],
      ['sip', 'update', 'port'],
      ['sip', 'attach', expect.stringContaining('allowed_ips,')],
    ]);
    expect(all[5]).toEqual({
      id: all[5]?.id,
      org_id: test.orgId,
      at: '2030-01-01T00:00:01.000Z',
      actor: { kind: 'api_key', key: test.key.slice(0, 9) },
      request_id: 'r.v1.sip.update',
      area: 'sip',
      subject_id: number,
      action: 'update',
      changed_fields: ['port'],
    });
  });

  it('is paged, filtered, and closed to other organizations', async () => {
    await change();
    const [first, second, third] = await entries();
    expect(await entries('?limit=2')).toEqual([first, second]);
    expect((await entries(`?limit=1&before=${second?.id}`))[0]).toEqual(third);
    expect(await entries('?area=organization')).toEqual([second, third]);
    expect(await entries(`?subject_id=${encodeURIComponent(number)}`)).toHaveLength(5);
    expect(await entries(`?actor=${test.key.slice(0, 9)}`)).toHaveLength(7);
    expect(await entries('?from_date=2030-01-01T00:00:05Z')).toEqual([first, second]);
    expect(await entries('?to_date=2029-12-31')).toEqual([]);
    expect(await entries('', test.foreignKey)).toEqual([]);
    const foreign = await test.call('GET', `/v1/org/audit?before=${first?.id}`, { key: test.foreignKey });
    expect(foreign.codes).toEqual(['INVALID_CURSOR']);
    expect((await test.call('GET', '/v1/org/audit?from_date=yesterday')).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
  });

  it('has no entry for a rejected change', async () => {
    await test.call('POST', `/v1/inbound/${number}`, { body: { prompt: 'x' } });
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: 'nonsense', directions: ['inbound'] },
    });
    expect(await entries()).toEqual([]);
  });
});

describe('GET /v1/admin/audit', () => {
  it('shows operators every organization and the deployment, or one of them', async () => {
    const { db } = test.control.services.database;
    const change = { orgId: null, area: 'keys', subject: 'k', action: 'create' };
    await recordChange(db, test.clock, systemActor, change);
    test.clock.advance(1000);
    await test.call('PATCH', '/v1/org/settings', { body: { alert_emails: [] }, key: test.foreignKey });
    const all = await entries('', test.operatorKey, '/v1/admin/audit');
    expect(all.map(({ org_id }) => org_id)).toEqual([test.foreignOrgId, null]);
    const own = `?org_id=${test.orgId}`;
    expect(await entries(own, test.operatorKey, '/v1/admin/audit')).toEqual([]);
  });
});

describe('the audit log', () => {
  it.runIf(onSqlite).each([
    ['org_id = 1', 'organization_by_time'],
    ["org_id = 1 and area = 'a'", 'organization_by_area'],
    ["org_id = 1 and subject_id = 'a'", 'organization_by_subject_id'],
    ["org_id = 1 and actor = 'a'", 'organization_by_actor'],
    ['1 = 1', 'deployment_by_time'],
    ["area = 'a'", 'deployment_by_area'],
    ["subject_id = 'a'", 'deployment_by_subject_id'],
    ["actor = 'a'", 'deployment_by_actor'],
  ])('answers %s from an index in the order of the list', async (where, index) => {
    const { rows } = await sql<{ detail: string }>`explain query plan select * from audit_entries
      where ${sql.raw(where)} order by at desc, id desc limit 50`.execute(test.control.services.database.db);
    expect(rows.map((row) => row.detail).join()).toMatch(
      new RegExp(`USING INDEX audit_entries_of_${index}\\b[^,]*$`),
    );
  });
});

describe('changedFields', () => {
  it('names what differs, for a new row everything that is not empty, and never the update time', () => {
    expect(changedFields({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual(['b']);
    expect(changedFields<{ a: number; b: null }>(undefined, { a: 1, b: null })).toEqual(['a']);
    expect(changedFields({ updated_at: '1' }, { updated_at: '2' })).toEqual([]);
  });
});

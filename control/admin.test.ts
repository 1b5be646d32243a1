import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { connectEdge } from '../test/kit/control/edge-client.ts';
import { listenOnce } from '../test/kit/control/harness.ts';
import { writeEmptyFile } from '../test/kit/db/empty-file.ts';
import { AdminProgram, type CommandResult } from '../test/kit/programs/admin-program.ts';
import { type ControlApp, createApp } from './app.ts';
import { createApiKey } from './organizations/store.ts';
import { readControlConfig } from './settings/config.ts';

let folder = '';
let control: ControlApp;
/** Runs while commands in another process change the data under it. */
async function startControl(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'admin-'));
  const config = readControlConfig({ TRUNKLINE_DATA: folder, LOG_LEVEL: 'silent' });
  await writeEmptyFile(config.database);
  control = await createApp({ config, logger: pino({ level: 'silent' }), checkAnswers: true });
  await control.begin();
}
async function stopControl(): Promise<void> {
  await control.close();
  rmSync(folder, { recursive: true });
}
function withControlEach(): void {
  beforeEach(startControl);
  afterEach(stopControl);
}

/** Runs one command after another, in another process than the control plane. */
let program: AdminProgram;
beforeAll(() => {
  program = new AdminProgram();
});
afterAll(() => program.end());

const admin = (...args: string[]) => adminOf(folder, args);

async function adminOf(dataFolder: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await program.run(dataFolder, args);
  if (code !== 0) throw Object.assign(new Error(stderr), { code, stderr });
  return stdout.trim();
}

/** One command as `npm run admin` runs it. */
function started(...args: string[]): Promise<CommandResult> {
  const env = { ...process.env, TRUNKLINE_DATA: folder, NODE_NO_WARNINGS: '1' };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(import.meta.dirname, 'admin.ts'), ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const refused = (stderr: unknown) => expect.objectContaining({ code: 1, stderr });

async function get(url: string, authorization: string) {
  const answer = await control.app.inject({ url, headers: { authorization } });
  return { status: answer.statusCode, body: answer.json() };
}

async function audit(): Promise<string[]> {
  const { db } = control.services.database;
  const key = await createApiKey(db, systemClock, { kind: 'operator' }, 'reader');
  const { body } = await get('/v1/admin/audit', key);
  const entries: { at: string; area: string; action: string; actor: { kind: string } }[] = body.data.entries;
  return entries
    .sort((a, b) => a.at.localeCompare(b.at))
    .map((entry) => `${entry.actor.kind} ${entry.area} ${entry.action}`);
}

describe('a data folder without a control plane', () => {
  withControlEach();

  // One reading command per area and one changing command.
  const commands = [
    ['key', 'list', '--operator'],
    ['org', 'list'],
    ['sip', 'wide'],
    ['org', 'disable', 'x'],
  ];

  it('gets an error from every command, and is left unchanged', async () => {
    for (const args of commands) {
      const wrong = join(folder, 'wrong');
      await expect(adminOf(wrong, args)).rejects.toEqual(
        refused(expect.stringContaining(`There is no database at ${wrong}`)),
      );
      expect(existsSync(wrong)).toBe(false);
    }
  });

  it('gets no new key when its own is lost', async () => {
    const { database: databaseFile } = readControlConfig({ TRUNKLINE_DATA: folder });
    rmSync(join(folder, 'secret.key'));
    await expect(admin('org', 'list')).rejects.toEqual(
      refused(expect.stringContaining('restore the secret.key')),
    );
    expect([existsSync(databaseFile), existsSync(join(folder, 'secret.key'))]).toEqual([true, false]);
  });
});

describe('the limit of an organization’s outgoing calls', () => {
  withControlEach();

  it("is set per organization, applies at once, and can be reset to the deployment's", async () => {
    const id = await admin('org', 'create', 'Acme');
    const key = await admin('key', 'create', id);
    const change = (call_limits: object) =>
      control.app.inject({
        method: 'PATCH',
        url: '/v1/org/settings',
        headers: { authorization: key },
        payload: { call_limits },
      });
    expect(await admin('org', 'call-ceiling', id, '--concurrent', '5', '--per-minute', 'none')).toBe(
      '{"concurrent":5,"per_minute":null}',
    );
    expect((await change({ concurrent: 6 })).statusCode).toBe(400);
    expect((await change({ concurrent: 5, per_minute: 9999 })).statusCode).toBe(200);
    await admin('org', 'call-ceiling', id, '--concurrent', '2');
    const { organizations } = await control.services.edgeConfig.snapshot();
    expect(organizations.find(({ org_id }) => org_id === id)?.call_limits).toMatchObject({ concurrent: 2 });
    await admin('org', 'call-ceiling', id, '--concurrent', 'default', '--per-minute', 'default');
    expect((await change({ concurrent: 6 })).statusCode).toBe(200);
    await expect(admin('org', 'call-ceiling', id, '--concurrent', '0')).rejects.toEqual(
      refused(expect.stringContaining('give a number from 1 to 10000')),
    );
    await expect(admin('org', 'call-ceiling', id)).rejects.toEqual(
      refused(expect.stringContaining('--concurrent')),
    );
  });
});

describe('the permission to list very wide networks', () => {
  withControlEach();

  it('is granted and revoked by the operator; networks already listed stay', async () => {
    const id = await admin('org', 'create', 'Acme', '--sip');
    const key = await admin('key', 'create', id);
    const number = '+14155550100';
    const send = async (method: 'POST', url: string, payload: object) => {
      const answer = await control.app.inject({ method, url, headers: { authorization: key }, payload });
      const { data, errors } = answer.json();
      return [answer.statusCode, errors?.[0]?.details?.path ?? data?.failed?.[0]?.message.split(':')[0]];
    };
    const attach = (allowed_ips: string[], phone_numbers = [number]) =>
      send('POST', '/v1/sip/attach', {
        phone_numbers,
        directions: [{ type: 'inbound', options: { allowed_ips } }],
      });
    const update = (allowed_ips: string[]) =>
      send('POST', '/v1/sip/update', {
        phone_number: number,
        updates: { type: 'inbound', options: { allowed_ips } },
      });
    const path = (place: string) => `${place}/options/allowed_ips/1`;
    const wide = ['203.0.113.9', '52.112.0.0/14'];
    expect(await attach(wide)).toEqual([200, path('/directions/0')]);
    expect(await attach(['203.0.113.0/24', '52.112.0.0/16', '2001:db8::/32'])).toEqual([200, undefined]);
    expect(await update(wide)).toEqual([400, path('/updates')]);
    expect(await admin('sip', 'wide')).not.toContain(number);
    await admin('sip', 'allow-wide', id);
    expect(await admin('org', 'show', id)).toMatch(/wide_sources.*permitted/);
    expect(await update(wide)).toEqual([200, undefined]);
    await admin('sip', 'deny-wide', id);
    // The number keeps what it has; new networks are rejected for it and for other numbers.
    expect(await update(['52.112.0.0/14'])).toEqual([200, undefined]);
    expect(await update(['52.112.0.0/14', '0.0.0.0/0'])).toEqual([400, path('/updates')]);
    expect(await attach(['52.112.0.0/14'], [number, '+14155550101'])).toEqual([
      200,
      '/directions/0/options/allowed_ips/0',
    ]);
    expect(await admin('sip', 'wide')).toMatch(/\+14155550100.*52\.112\.0\.0\/14.*false/);
    // Pieces that need no permission alone need it when they are many.
    expect(await admin('sip', 'large')).not.toContain(id);
    const pieces = Array.from({ length: 5 }, (_, i) => `20.${i}.0.0/16`);
    expect(await attach(pieces, ['+14155550102'])).toEqual([200, '/directions/0/options/allowed_ips']);
    await admin('sip', 'allow-wide', id);
    expect(await attach(pieces, ['+14155550102'])).toEqual([200, undefined]);
    expect(await admin('sip', 'large')).toMatch(new RegExp(`${id}.*327680 IPv4 addresses.*true`));
    const { numbers } = await control.services.edgeConfig.snapshot();
    expect(numbers.map((each) => [each.number, each.inbound[0]?.allowed_ips])).toContainEqual([
      number,
      ['52.112.0.0/14'],
    ]);
  });
});

describe('organizations', () => {
  withControlEach();

  it('are created, shown, given alert addresses, entitled and switched off, each at once and with an audit entry', async () => {
    const id = await admin('org', 'create', 'Acme', '--email', 'owner@example.com');
    const key = await admin('key', 'create', id);
    expect(await get('/v1/org/settings', key)).toMatchObject({
      status: 200,
      body: { data: { name: 'Acme', sip_enabled: false, alert_emails: ['owner@example.com'] } },
    });
    await admin('sip', 'enable', id);
    await admin('organizations', 'alerts', id, '--email', '', '--sms', '+1 415 555 0123');
    expect(await get('/v1/org/settings', key)).toMatchObject({
      body: { data: { sip_enabled: true, alert_emails: [], alert_sms_numbers: ['+14155550123'] } },
    });
    const shown = await admin('org', 'show', id);
    expect(shown).toMatch(/keys_in_force.*1/);
    expect(shown).not.toContain(key);
    expect(await admin('org', 'rotate-secret', id)).toMatch(/^[0-9a-f]{64}$/);
    expect(await admin('org', 'disable', id)).toBe('disabled');
    expect((await get('/v1/org/settings', key)).status).toBe(401);
    expect(await admin('org', 'disable', id)).toBe('was disabled before');
    expect(await admin('org', 'enable', id)).toBe('enabled');
    expect((await get('/v1/org/settings', key)).status).toBe(200);
    expect(await audit()).toEqual([
      'command_line organization create',
      'command_line keys create',
      'command_line organization update',
      'command_line organization update',
      'command_line organization replace_secret',
      'command_line organization disable',
      'command_line organization enable',
    ]);
  });

  it('leave the edges’ configuration when switched off and come back unchanged', async () => {
    const id = await admin('org', 'create', 'Acme', '--sip');
    const authorization = await admin('key', 'create', id);
    await control.app.inject({
      method: 'POST',
      url: '/v1/sip/attach',
      headers: { authorization },
      payload: { phone_number: '+14155550100', directions: ['inbound'] },
    });
    const numbers = async () => (await control.services.edgeConfig.snapshot()).numbers;
    expect(await numbers()).toMatchObject([{ number: '+14155550100', org_id: id }]);
    await admin('org', 'disable', id);
    expect(await numbers()).toEqual([]);
    expect((await control.services.edgeConfig.snapshot()).organizations).toEqual([]);
    await admin('org', 'enable', id);
    expect(await numbers()).toMatchObject([{ number: '+14155550100', org_id: id }]);
  });
});

describe('edges and proxies', () => {
  withControlEach();

  it('are drained, weighed and listed; a connected edge gets the order within a second', async () => {
    const url = await listenOnce(control)();
    const edgeToken = await admin('key', 'create', '--edge');
    const edge = await connectEdge({ url: async () => url, edgeToken }, { edge_id: 'edge-7' });
    expect((await edge.next('config')).config).toMatchObject({ draining: false });
    expect(await admin('edge', 'drain', 'edge-7')).toBe('draining');
    expect((await edge.next('change')).change).toMatchObject({ draining: true });
    expect(await admin('edge', 'weight', 'edge-7', '--weight', '30')).toBe('weight set');
    expect(await admin('edge', 'region', 'edge-7', '--region', 'eu-west')).toBe('region set');
    expect(await admin('edges', 'list')).toMatch(/'edge-7'.*'eu-west'.* 30 .*'20\d\d-/);
    expect(await admin('edge', 'undrain', 'edge-7')).toBe('in service');
    expect(await admin('proxy', 'add', '192.0.2.10')).toBe('trusted: 192.0.2.10');
    expect(await admin('proxies', 'list')).toContain("'192.0.2.10'");
    expect(JSON.parse(await admin('proxies', 'list', '--json'))).toEqual([{ address: '192.0.2.10' }]);
    const removed = JSON.parse(await admin('proxy', 'remove', '192.0.2.10', '--json'));
    expect(removed).toEqual({ result: 'no proxy is trusted' });
    const { db } = control.services.database;
    await db.updateTable('edges').set({ last_seen_at: new Date().toISOString() }).execute();
    for (const [args, message] of [
      [['edge', 'drain', 'x'], 'There is no edge x; "edge list" shows them.'],
      [['edge', 'weight', 'edge-7', '--weight', '1001'], '--weight takes a whole number from 0 to 1000.'],
      [['edge', 'remove', 'x'], 'There is no edge x; "edge list" shows them.'],
      [
        ['edge', 'remove', 'edge-7'],
        'The edge edge-7 is connected, or was within the last 30 s: stop it first.',
      ],
      [['proxy', 'add', '192.0.2.0/24'], '"192.0.2.0/24" must be one IP address.'],
    ] as const)
      await expect(admin(...args)).rejects.toEqual(refused(expect.stringContaining(message)));
    await edge.close();
    await db.updateTable('edges').set({ last_seen_at: '2020-01-01T00:00:00.000Z' }).execute();
    expect(await admin('edge', 'remove', 'edge-7')).toBe('removed');
    expect(await admin('edge', 'list')).toBe('none');
  });
});

describe('keys', () => {
  withControlEach();

  it('of an organization have the role that was given, or that of an admin', async () => {
    const orgId = await admin('org', 'create', 'Acme');
    const first = await admin('key', 'create', orgId, '--name', 'app');
    const reader = await admin('key', 'create', orgId, '--name', 'reports', '--role', 'read');
    const list = await admin('key', 'list', orgId);
    expect(list).toMatch(/'app'.*'admin'/);
    expect(list).toMatch(/'reports'.*'read'/);
    await admin('key', 'create', '--operator');
    expect(await admin('key', 'list', '--operator')).toContain("'operator'");
    expect((await get('/v1/org/keys', first)).status).toBe(200);
    expect((await get('/v1/pathway', reader)).status).toBe(200);
    expect((await get('/v1/org/keys', reader)).status).toBe(403);
  });

  it('are shown once, show when they were last used, and stop working once revoked', async () => {
    const orgId = await admin('org', 'create', 'Acme');
    const key = await admin('key', 'create', orgId, '--name', 'app');
    expect(await admin('key', 'list', orgId)).toMatch(/'app'.*'never'/);
    expect((await get('/v1/pathway', key)).status).toBe(200);
    const list = await admin('keys', 'list', orgId);
    expect(list).toContain(`${key.slice(0, 9)}…`);
    expect(list).not.toContain(key);
    expect(list).not.toContain('never');
    const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(list) ?? [];
    expect(await admin('key', 'revoke', id)).toBe('revoked');
    expect((await get('/v1/pathway', key)).status).toBe(401);
    await expect(admin('key', 'revoke', id)).rejects.toEqual(
      refused(expect.stringContaining('no active key')),
    );
  });

  it('of operators and of edges are separate', async () => {
    expect(await admin('key', 'create', '--operator')).toMatch(/^op_/);
    expect(await admin('key', 'create', '--edge')).toMatch(/^et_/);
    expect(await admin('edge-token', 'create', '--name', 'second')).toMatch(/^et_/);
    expect(await admin('key', 'list', '--edge')).toContain('second');
  });

  it('of an edge disconnect it when they are revoked', async () => {
    const edgeToken = await admin('key', 'create', '--edge');
    const url = listenOnce(control);
    const edge = await connectEdge({ url, edgeToken });
    await edge.next('config');
    const list = await admin('key', 'list', '--edge');
    expect(list).not.toContain('never');
    const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(list) ?? [];
    await admin('key', 'revoke', id);
    expect(await edge.closed).toEqual({ code: 1008, reason: 'the edge token was revoked' });
    await expect(connectEdge({ url, edgeToken })).rejects.toThrow('401');
  });
});

const oneOwner = (given: string) => `Give one of <org id>, --operator and --edge, not ${given}.`;

describe('invalid commands', () => {
  beforeAll(startControl);
  afterAll(stopControl);

  it.each([
    [['org', 'create', 'Acme', '--email', 'owner'], '"owner" is not a mail address.'],
    [['org', 'alerts', 'x'], 'Give --email, --sms or both.'],
    [['org', 'show', 'x'], 'There is no organization x; "org list" shows them.'],
    [['org', 'create'], 'The name is missing.'],
    [['org', 'create', 'Acme', 'Inc'], 'unexpected "Inc"; put names in quotes.'],
    [['org', 'list', '--sip'], '"org list" has no option --sip.'],
    [['org', 'list', '--colour'], expect.stringContaining("Unknown option '--colour'")],
    [['org', 'destroy'], expect.stringMatching(/^There is no command "org destroy"\.\n\nUsage/)],
    [['key', 'create'], 'The org id (or --operator, or --edge) is missing.'],
    // A key needs exactly one owner: an operator's key opens every organization.
    [['key', 'create', 'x', '--operator'], oneOwner('x and --operator')],
    [['key', 'create', 'x', '--edge'], oneOwner('x and --edge')],
    [['key', 'create', 'x', '--role', 'owner'], '"owner" is not a role: give read, member, admin.'],
    [['key', 'create', '--operator', '--role', 'read'], 'Only keys of organizations have a --role.'],
    [['key', 'list', '--operator', '--edge'], oneOwner('--operator and --edge')],
    [['org', 'list', 'x'], 'unexpected "x"; "org list" takes no argument.'],
    [
      ['edge-token', 'create', 'berlin'],
      'unexpected "berlin"; "edge-token create" takes options only: --name.',
    ],
    [['org', 'create', '  '], 'The name is missing.'],
    [['org', 'create', 'two\nlines'], 'The name must be one line of at most 200 characters.'],
    [['org', 'create', 'x'.repeat(201)], 'The name must be one line of at most 200 characters.'],
    [['org', 'create', 'Acme', '--region', ''], 'The region is missing.'],
    [
      ['key', 'create', '--edge', '--name', '\u001b[2J'],
      'The name must be one line of at most 200 characters.',
    ],
    [
      ['org', 'create', 'Acme', ...Array.from({ length: 21 }, (_, i) => `--email=${i}@example.com`)],
      '--email is given 21 times; alerts go to 20 of each at most.',
    ],
  ])('%j is rejected in one sentence', async (args, stderr) => {
    const text = typeof stderr === 'string' ? `${stderr}\n` : stderr;
    await expect(admin(...args)).rejects.toEqual(refused(text));
  });

  it('without any command lists the commands', async () => {
    const help = await admin();
    expect(help).toMatch(/^Usage: npm run admin -- <command>/);
    expect(await admin('--help')).toBe(help);
    expect(await started()).toEqual({ code: 0, stdout: `${help}\n`, stderr: '' });
  });

  it('end the program with exit code 1', async () => {
    expect(await started('org', 'create')).toEqual({ code: 1, stdout: '', stderr: 'The name is missing.\n' });
  });
});

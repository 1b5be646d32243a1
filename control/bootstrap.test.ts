import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer as createTlsServer } from 'node:tls';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { writeEmptyFile } from '../test/kit/db/empty-file.ts';
import { longTest } from '../test/kit/long-test.ts';
import { testedFile } from '../test/kit/programs/built-programs.ts';
import { freeTcpPort } from '../test/kit/programs/ports.ts';
import { createApp } from './app.ts';
import { bootstrap, demoNumber, echoNumber, toneNumber } from './bootstrap.ts';
import { ensureCertificates } from './certificates/files.ts';
import { readControlConfig } from './settings/config.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'control-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const mode = (...path: string[]) => (statSync(join(folder, ...path)).mode & 0o777).toString(8);

/**
 * One start like main.ts, without listening.
 * @param makesDatabase whether a first one makes the schema itself, which takes longer than all else
 */
async function start(env: Record<string, string> = {}, { makesDatabase = false } = {}) {
  const config = readControlConfig({ TRUNKLINE_DATA: folder, LOG_LEVEL: 'silent', ...env });
  if (!makesDatabase && !existsSync(config.database)) await writeEmptyFile(config.database);
  const clock = new FakeClock();
  const control = await createApp({ config, clock, logger: pino({ level: 'silent' }), checkAnswers: true });
  const files = await ensureCertificates({
    dataFolder: folder,
    given: null,
    publicHost: config.sip.publicHost,
    now: clock.now(),
  });
  const made = await bootstrap(control.services, files.ca);
  const snapshot = await control.services.edgeConfig.snapshot();
  const get = async (url: string) => {
    const answer = await control.app.inject({ url, headers: { authorization: made.api_key } });
    return { status: answer.statusCode, body: answer.json() };
  };
  return { control, made, snapshot, get };
}

it('a start without changes writes no file besides the database, so it works on a full disk', async () => {
  await (await start()).control.close();
  const files = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('control.db'))
      .map((name) => [name, statSync(join(folder, name)).ino, statSync(join(folder, name)).mtimeMs]);
  const before = files();
  await (await start()).control.close();
  expect(files()).toEqual(before);
});

describe('the first start', () => {
  it('writes private keys and creates numbers that a call from this machine can reach', async () => {
    const { control, made, snapshot, get } = await start({}, { makesDatabase: true });
    expect(JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8'))).toEqual(made);
    expect(made).toMatchObject({
      control_url: 'http://127.0.0.1:8080',
      sip: { host: '127.0.0.1', port: 5061, ca_cert: join(folder, 'tls', 'ca.crt') },
    });
    expect([
      mode('bootstrap.json'),
      mode('secret.key'),
      mode('control.db'),
      mode('tls', 'ca.key'),
      mode('tls', 'server.key'),
    ]).toEqual(Array(5).fill('600'));
    expect(await get('/v1/sip/numbers')).toMatchObject({
      status: 200,
      body: {
        data: { numbers: [demoNumber, echoNumber, toneNumber].map((phone_number) => ({ phone_number })) },
      },
    });
    const [pathway] = snapshot.pathways;
    const inbound = [{ auth_mode: 'ip', allowed_ips: ['127.0.0.1', '::1'] }];
    expect(snapshot.numbers).toMatchObject([
      {
        number: demoNumber,
        org_id: made.org_id,
        inbound,
        agent: { kind: 'pathway', pathway_id: pathway?.pathway_id, pathway_version: 0 },
      },
      { number: echoNumber, inbound, agent: { kind: 'echo' } },
      { number: toneNumber, inbound, agent: { kind: 'tone', frequency_hz: 440 } },
    ]);
    expect(snapshot.organizations).toMatchObject([{ org_id: made.org_id }]);
    await control.close();
  });

  it('happens once: a second start keeps keys, numbers, pathway, certificates and edits', async () => {
    const first = await start();
    const updates = { url: `/v1/inbound/${demoNumber}`, method: 'POST', payload: { label: 'Mine' } } as const;
    await first.control.app.inject({ ...updates, headers: { authorization: first.made.api_key } });
    await first.control.close();
    const kept = ['ca.crt', 'server.crt', 'server.key'].map((name) =>
      readFileSync(join(folder, 'tls', name), 'utf8'),
    );
    const second = await start();
    expect(second.made).toEqual(first.made);
    expect(second.snapshot).toEqual(first.snapshot);
    expect((await second.get(`/v1/inbound/${demoNumber}`)).body).toMatchObject({ label: 'Mine' });
    expect(
      ['ca.crt', 'server.crt', 'server.key'].map((name) => readFileSync(join(folder, 'tls', name), 'utf8')),
    ).toEqual(kept);
    await second.control.close();
  });

  it('applies changed settings, and creates new keys when its file was lost', async () => {
    const first = await start();
    await first.control.close();
    const moved = await start({
      SIP_PUBLIC_HOST: 'sip.example.com',
      SIP_TLS_PORT: '6061',
      CONTROL_PORT: '9000',
    });
    expect(moved.made).toMatchObject({
      ...first.made,
      control_url: 'http://127.0.0.1:9000',
      sip: { host: 'sip.example.com', port: 6061 },
    });
    await moved.control.close();
    rmSync(join(folder, 'bootstrap.json'));
    const again = await start();
    expect(again.made.org_id).toBe(first.made.org_id);
    expect(again.made.api_key).not.toBe(first.made.api_key);
    expect(again.snapshot.numbers.map((one) => one.number)).toEqual([demoNumber, echoNumber, toneNumber]);
    await again.control.close();
  });

  it.each(['{}', '{'])('does not overwrite a file that it cannot parse: %s', async (text) => {
    writeFileSync(join(folder, 'bootstrap.json'), text);
    await expect(start()).rejects.toThrow('bootstrap.json was not written by a first start');
    expect(readFileSync(join(folder, 'bootstrap.json'), 'utf8')).toBe(text);
  });
});

describe('the certificates', () => {
  it('are accepted by a TLS client that trusts the authority, for every name', async () => {
    const files = await ensureCertificates({
      dataFolder: folder,
      given: null,
      publicHost: 'sip.example.com',
      now: Date.now(),
    });
    const server = createTlsServer(
      { cert: readFileSync(files.cert), key: readFileSync(files.key) },
      (socket) => socket.end(),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    for (const servername of ['localhost', 'sip.example.com']) {
      const socket = connect({ host: '127.0.0.1', port, servername, ca: readFileSync(files.ca) });
      await once(socket, 'secureConnect');
      expect(socket.authorized).toBe(true);
      socket.resume();
      await once(socket, 'close');
    }
    server.close();
  });

  it('are renewed for a new name and near expiry, under the same authority', async () => {
    const options = { dataFolder: folder, given: null, publicHost: null, now: Date.UTC(2030, 0, 1) };
    const read = (file: string) => readFileSync(file, 'utf8');
    const files = await ensureCertificates(options);
    const [ca, first] = [read(files.ca), read(files.cert)];
    await ensureCertificates(options);
    expect(read(files.cert)).toBe(first);
    await ensureCertificates({ ...options, publicHost: '192.0.2.7' });
    const second = read(files.cert);
    expect(second).not.toBe(first);
    await ensureCertificates({
      ...options,
      publicHost: '192.0.2.7',
      now: options.now + 370 * 24 * 60 * 60 * 1000,
    });
    expect(read(files.cert)).not.toBe(second);
    expect(read(files.ca)).toBe(ca);
  });

  it.each(['ca.key', 'ca.crt', 'server.crt'])('name their folder when %s cannot be used', async (name) => {
    const options = { dataFolder: folder, given: null, publicHost: null, now: Date.UTC(2030, 0, 1) };
    await ensureCertificates(options);
    writeFileSync(join(folder, 'tls', name), 'garbage');
    const another = { ...options, publicHost: 'sip.example.com' };
    await expect(ensureCertificates(another)).rejects.toThrow(
      `${join(folder, 'tls')}: a certificate or key in it cannot be used`,
    );
  });

  it('of the operator are used unchanged', async () => {
    const made = await ensureCertificates({
      dataFolder: folder,
      given: null,
      publicHost: null,
      now: Date.now(),
    });
    const given = { cert: made.cert, key: made.key, ca: null };
    expect(
      await ensureCertificates({ dataFolder: join(folder, 'other'), given, publicHost: null, now: 0 }),
    ).toEqual({ ...given, ca: made.cert });
  });
});

describe('the program', () => {
  const main = testedFile(join(import.meta.dirname, 'main.ts'));
  const environment = (port: number) => ({
    ...process.env,
    TRUNKLINE_DATA: folder,
    CONTROL_PORT: String(port),
    NODE_NO_WARNINGS: '1',
  });

  it('answers until SIGTERM, then exits with 0', async () => {
    const port = await freeTcpPort();
    const program = spawn(process.execPath, [main], {
      env: environment(port),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    program.stdout.setEncoding('utf8');
    for await (const line of program.stdout) if (String(line).includes('control plane is listening')) break;
    const { api_key } = JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8'));
    const answer = await fetch(`http://127.0.0.1:${port}/v1/sip/numbers`, {
      headers: { authorization: `Bearer ${api_key}` },
    });
    expect(answer.status).toBe(200);
    const ended = once(program, 'exit');
    program.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('reports invalid settings and exits with 1', () => {
    const run = spawnSync(process.execPath, [main], {
      env: { ...environment(0), LOG_LEVEL: 'loud' },
      encoding: 'utf8',
    });
    expect([run.status, run.stderr.trim()]).toEqual([
      1,
      'The control plane could not start: LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
    ]);
  });

  longTest(
    'has a command line for organizations, keys and tokens',
    async () => {
      const admin = (...args: string[]) => {
        const run = spawnSync(process.execPath, [join(import.meta.dirname, 'admin.ts'), ...args], {
          env: environment(0),
          encoding: 'utf8',
        });
        return { status: run.status, text: (run.stdout + run.stderr).trim() };
      };
      const org = admin('org', 'create', 'Acme').text;
      expect(org).toMatch(/^[0-9a-f-]{36}$/);
      const key = admin('key', 'create', org, '--name', 'ci').text;
      const { control } = await start();
      const get = async () =>
        (await control.app.inject({ url: '/v1/sip/numbers', headers: { authorization: key } })).statusCode;
      expect(await get()).toBe(403);
      expect(admin('sip', 'enable', org)).toEqual({ status: 0, text: 'SIP enabled' });
      expect(await get()).toBe(200);
      const [, keyId = ''] = /([0-9a-f-]{36}).*'ci'/.exec(admin('key', 'list', org).text) ?? [];
      expect(admin('key', 'revoke', keyId)).toEqual({ status: 0, text: 'revoked' });
      expect(await get()).toBe(401);
      expect(admin('edge-token', 'create').text).toMatch(/^et_/);
      expect(admin('key', 'create', 'none')).toMatchObject({
        status: 1,
        text: 'There is no organization none; "org list" shows them.',
      });
      expect(admin('nonsense')).toMatchObject({ status: 1, text: expect.stringContaining('Usage:') });
      await control.close();
    },
    300_000,
  );
});

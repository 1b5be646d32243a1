/** The checks and the advice of `npm start` before its set-up, with real ports, real folders and the real command. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rejectedSettings } from '#shared/settings/former.ts';
import { settingReader } from '#shared/settings/reader.ts';
import { checkBeforeStart } from '../scripts/supervisor/before-start.ts';
import { freeTcpPort } from './kit/programs/ports.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'before-start-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function environment(more: NodeJS.ProcessEnv = {}): Promise<NodeJS.ProcessEnv> {
  const [control, sip] = [String(await freeTcpPort()), String(await freeTcpPort())];
  const data = join(folder, 'data');
  return { TRUNKLINE_DATA: data, CONTROL_PORT: control, SIP_TLS_PORT: sip, SIP_HOST: '127.0.0.1', ...more };
}

test('a first start passes the checks, which create nothing', async () => {
  await checkBeforeStart(await environment());
  expect(readdirSync(folder)).toEqual([]);
});

test.each(['CONTROL_PORT', 'SIP_TLS_PORT'])('reports %s when it is in use or not a port', async (setting) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  await expect(checkBeforeStart(await environment({ [setting]: port }))).rejects.toMatchObject({
    message: expect.stringContaining(`${setting}: listen EADDRINUSE`),
    remedy: `stop the program that uses this port, or set ${setting} to another one`,
  });
  taken.close();
  await expect(checkBeforeStart(await environment({ [setting]: '70000' }))).rejects.toMatchObject({
    message: `${setting} is not a port: "70000"`,
    remedy: `set ${setting} to a whole number from 1 to 65535`,
  });
});

test('reports an address that this machine does not have', async () => {
  const env = await environment({ CONTROL_HOST: '192.0.2.1' });
  await expect(checkBeforeStart(env)).rejects.toMatchObject({
    remedy: 'set CONTROL_HOST to an address of this machine',
  });
});

test('rejects all settings of earlier versions at once, in the sentences of the programs', async () => {
  const env = await environment({ TRACE_DAYS: '7', RING_TIMEOUT_S: '30' });
  expect(() => settingReader('control', env)).toThrow(rejectedSettings(env).join('\n'));
  await expect(checkBeforeStart(env)).rejects.toMatchObject({ message: rejectedSettings(env).join('\n') });
});

test.each(['control.db', 'outbox.db', 'secret.key'])('reports a folder in place of %s', async (name) => {
  mkdirSync(join(folder, 'data', name), { recursive: true });
  await expect(checkBeforeStart(await environment())).rejects.toMatchObject({
    remedy: expect.stringContaining(`${join(folder, 'data', name)} is a folder, but must be a file.`),
  });
});

test.each([
  ['a data folder that is a file', {}, 'is a file, but must be a folder.'],
  ['a setting of an earlier version', { TRACE_DAYS: '7' }, 'set RETENTION_DAYS=traces=7 instead'],
])(
  'npm start fails on %s before it builds anything, without advice about ports',
  async (_what, more, advice) => {
    writeFileSync(join(folder, 'data'), '');
    const cache = join(folder, 'cache');
    mkdirSync(cache);
    const { stdout, stderr, status } = spawnSync(process.execPath, [join('scripts', 'start.mjs')], {
      cwd: join(import.meta.dirname, '..'),
      env: { ...process.env, ...(await environment(more)), TRUNKLINE_CACHE: cache },
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(advice);
    expect(stderr).not.toContain('PORT');
    expect(readdirSync(cache)).toEqual([]);
  },
);

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSettings } from '../config.ts';
import { createLog } from '../log.ts';
import { createContext } from './context.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-context-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

it('has the authority that control creates while the edge waits for its certificates', async () => {
  // The first start of both: the settings are read before control has written anything.
  const settings = readSettings({ TRUNKLINE_DATA: folder });
  const log = createLog({ level: 'info', form: null }, { write: () => undefined });
  const starting = createContext(settings, log, 'Trunkline/1', {});
  mkdirSync(join(folder, 'tls'));
  for (const file of ['ca.crt', 'server.key', 'server.crt']) writeFileSync(join(folder, 'tls', file), file);
  const bootstrap = { control_url: 'http://127.0.0.1:8080', edge_token: 't' };
  writeFileSync(join(folder, 'bootstrap.json'), JSON.stringify(bootstrap));
  const { settings: complete, privateAuthority } = await starting;
  expect(settings.tls.ca).toBeNull();
  expect([complete.tls.ca, privateAuthority]).toEqual([join(folder, 'tls', 'ca.crt'), 'ca.crt']);
});

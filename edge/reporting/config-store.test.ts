import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EdgeConfig, EdgeConfigChange } from '#shared/edge-protocol/config.ts';
import { SecretBox } from '#shared/secret-box.ts';
import { applyChange, ConfigGap, ConfigStore } from './config-store.ts';

const config: EdgeConfig = {
  version: 7,
  organizations: [{ org_id: 'o1', signing_secret: 'aa' }],
  numbers: [
    { number: '+14155550100', org_id: 'o1', inbound: [], outbound: [], agent: null },
    { number: '+14155550101', org_id: 'o1', inbound: [], outbound: [], agent: null },
  ],
  pathways: [{ pathway_id: 'p1', version: 0, org_id: 'o1', name: 'P', nodes: [], edges: [] }],
  allowed_private_targets: [],
  open_inbound: false,
};

const secrets = new SecretBox('11'.repeat(32));

const nothing: EdgeConfigChange = {
  from_version: 7,
  version: 8,
  organizations: [],
  numbers: [],
  pathways: [],
  removed_organizations: [],
  removed_numbers: [],
  removed_pathways: [],
};

describe('applyChange', () => {
  it('adds, replaces and removes by key', () => {
    const changed = applyChange(config, {
      ...nothing,
      numbers: [
        { number: '+14155550101', org_id: 'o2', inbound: [], outbound: [], agent: null },
        { number: '+14155550102', org_id: 'o1', inbound: [], outbound: [], agent: null },
      ],
      removed_numbers: ['+14155550100'],
      removed_pathways: ['p1@0'],
    });
    expect(changed.version).toBe(8);
    expect(changed.numbers.map((n) => [n.number, n.org_id])).toEqual([
      ['+14155550101', 'o2'],
      ['+14155550102', 'o1'],
    ]);
    expect(changed.pathways).toEqual([]);
    expect(config.numbers).toHaveLength(2);
  });

  it('takes over what the operator decides about the edge, and keeps it when a change says nothing', () => {
    const drained = applyChange(config, { ...nothing, draining: true, trusted_proxies: ['192.0.2.1'] });
    expect(drained).toMatchObject({ draining: true, trusted_proxies: ['192.0.2.1'] });
    const later = applyChange(drained, { ...nothing, from_version: 8, version: 9 });
    expect(later).toMatchObject({ draining: true, trusted_proxies: ['192.0.2.1'] });
    const back = { ...nothing, from_version: 9, version: 10, draining: false, trusted_proxies: [] };
    expect(applyChange(later, back)).toMatchObject({ draining: false, trusted_proxies: [] });
  });

  it('rejects a change that starts at another version', () => {
    expect(() => applyChange(config, { ...nothing, from_version: 6 })).toThrow(ConfigGap);
  });
});

describe('ConfigStore', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'config-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('loads what was saved, readable by the owner only, and leaves no draft behind', () => {
    const store = new ConfigStore(join(folder, 'c.json'), secrets);
    store.save(config);
    expect(store.load()).toEqual(config);
    expect(readdirSync(folder)).toEqual(['c.json']);
    expect(statSync(join(folder, 'c.json')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['is missing', null],
    ['is not JSON', '{"version":'],
    ['is not a configuration', '{"version":1}'],
  ])('loads nothing when the file %s', (_, text) => {
    if (text !== null) writeFileSync(join(folder, 'c.json'), text);
    expect(new ConfigStore(join(folder, 'c.json'), secrets).load()).toBeNull();
  });

  it('keeps no secret in clear text, and encrypts files of earlier versions at once', () => {
    const path = join(folder, 'c.json');
    const secret = { ...config, organizations: [{ org_id: 'o1', signing_secret: 'a-signing-secret' }] };
    writeFileSync(path, JSON.stringify(secret), { mode: 0o644 });
    writeFileSync(`${path}.new`, 'a draft of a crash', { mode: 0o644 });
    const store = new ConfigStore(path, secrets);
    expect(store.load()).toEqual(secret);
    for (const _ of [1, 2]) {
      expect(readdirSync(folder)).toEqual(['c.json']);
      expect(readFileSync(path, 'utf8')).not.toMatch(/a-signing-secret|signing_secret/);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      store.save(secret);
    }
    expect(store.load()).toEqual(secret);
  });

  it('reports a file it cannot use, and continues without it', () => {
    const path = join(folder, 'c.json');
    const seen: string[] = [];
    const store = new ConfigStore(path, secrets, (why) => seen.push(why));
    new ConfigStore(path, new SecretBox('22'.repeat(32))).save(config);
    expect(store.load()).toBeNull();
    writeFileSync(path, '{"version":1}');
    expect(store.load()).toBeNull();
    store.save(config);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -9));
    expect(store.load()).toBeNull();
    expect(seen).toEqual(['encrypted with another key', 'damaged', 'encrypted with another key']);
    store.save(config);
    expect(store.load()).toEqual(config);
  });
});

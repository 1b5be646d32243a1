import { describe, expect, it } from 'vitest';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import { toJson } from '../db/index.ts';
import type { NumberRow, SipConfigurationRow } from '../db/tables.ts';
import type { NumberSettings } from '../numbers/rules.ts';
import { resolveVersion } from '../pathways/rules.ts';
import { numberConfig } from './rules.ts';

const row: NumberRow = {
  number: '+14155550100',
  org_id: 'org',
  source: 'sip',
  pathway_id: null,
  pathway_version: null,
  persona_id: null,
  settings: toJson({}),
  builtin_agent: null,
  created_at: '',
  updated_at: '',
  archived_at: null,
};

const configuration: SipConfigurationRow = {
  id: 'in',
  org_id: 'org',
  number: '+14155550100',
  direction: 'inbound',
  priority: 1,
  sip_endpoint: null,
  port: 5061,
  auth_mode: 'ip',
  transfer_mode: 'sip_only',
  allowed_ips: toJson(['198.51.100.0/24']),
  username: null,
  password: null,
  realm: null,
  headers: null,
  failover_config: null,
  codec_config: null,
  alert_config: null,
  region_config: null,
  created_at: '',
  updated_at: '',
};

const outbound = (host: string): SipConfigurationRow => ({
  ...configuration,
  id: host,
  direction: 'outbound',
  sip_endpoint: `sip:${host}:5070`,
  auth_mode: null,
  allowed_ips: null,
});

describe("a number in the edges' configuration", () => {
  it('trusts the listed addresses, its own source host, and the hosts of outbound records', () => {
    const rows = [
      { ...configuration, sip_endpoint: 'a.example.com' },
      outbound('a.example.com'),
      outbound('b.example.com'),
    ];
    expect(numberConfig(row, rows, null).inbound).toEqual([
      {
        id: 'in',
        auth_mode: 'ip',
        allowed_ips: ['198.51.100.0/24'],
        source_host: 'a.example.com',
        transfer_mode: 'sip_only',
        headers: [],
        codecs: ['PCMU', 'PCMA', 'Opus'],
      },
      {
        id: 'in',
        auth_mode: 'ip',
        allowed_ips: [],
        source_host: 'b.example.com',
        transfer_mode: 'sip_only',
        headers: [],
        codecs: ['PCMU', 'PCMA', 'Opus'],
      },
    ]);
  });

  it('takes no calls with outbound records alone', () => {
    expect(numberConfig(row, [outbound('a.example.com')], null).inbound).toEqual([]);
  });

  it('has the failover endpoints as standby until failover is enabled', () => {
    const endpoints = [{ host: 'b.example.com', port: 5061, transport: 'tls', priority: 1 }];
    const trunk = (failover: object | null) =>
      numberConfig(
        row,
        [{ ...outbound('a.example.com'), failover_config: failover && toJson(failover) }],
        null,
      ).outbound[0];
    const second = { host: 'b.example.com', port: 5061, priority: 1 };
    expect(trunk({ enabled: false, endpoints })).toMatchObject({
      endpoints: [{ host: 'a.example.com', priority: 0 }],
      standby: [second],
    });
    const enabled = trunk({ enabled: true, endpoints });
    expect(enabled).toMatchObject({ endpoints: [{ priority: 0 }, second] });
    expect(enabled).not.toHaveProperty('standby');
    expect(trunk(null)).not.toHaveProperty('standby');
  });

  it('carries header mappings and codecs of each record', () => {
    const headers: HeaderMapping[] = [{ type: 'custom', key: 'X-Account', value: 'account' }];
    const rows = [
      { ...configuration, headers: toJson(headers), codec_config: toJson({ codecs: ['G.722'] }) },
    ];
    expect(numberConfig(row, rows, null).inbound).toMatchObject([{ headers, codecs: ['G.722'] }]);
  });

  it.each([
    [{}, null],
    [{ settings: toJson({ prompt: 'Be kind' }) }, { kind: 'task', task: 'Be kind' }],
    [{ builtin_agent: 'echo' }, { kind: 'echo' }],
    [{ builtin_agent: 'tone:440' }, { kind: 'tone', frequency_hz: 440 }],
    [
      { settings: toJson({ stream_url: 'wss://a.example.com' }) },
      { kind: 'stream', stream_url: 'wss://a.example.com' },
    ],
    [{ pathway_id: 'p' }, { kind: 'pathway', pathway_id: 'p', pathway_version: 0, start_node_id: null }],
    [
      { pathway_id: 'p', pathway_version: '4', settings: toJson({ start_node_id: 'n' }) },
      { pathway_version: 4, start_node_id: 'n' },
    ],
  ])('with %j has the agent %j', (changes, agent) => {
    const config = numberConfig({ ...row, ...changes }, [], null);
    if (agent === null) expect(config.agent).toBeNull();
    else expect(config.agent).toMatchObject(agent);
  });

  const agentOf = (settings: NumberSettings, changes: Partial<NumberRow> = {}) =>
    numberConfig({ ...row, ...changes, settings: toJson(settings) }, [], null).agent;
  const transfers = {
    transfer_phone_number: '1 (415) 555-0111',
    transfer_list: { sales: '1 415 555 0122', desk: 'sip:desk@pbx.example.com' },
  };

  it('has transfer targets as dialed, the one without a name as default', () => {
    expect(agentOf({ prompt: 'Be kind', ...transfers })).toMatchObject({
      transfer_list: { default: '+14155550111', sales: '+14155550122', desk: 'sip:desk@pbx.example.com' },
    });
    const { transfer_list } = { transfer_list: { default: '1001' } };
    expect(agentOf({ prompt: 'Be kind', ...transfers, transfer_list })).toMatchObject({ transfer_list });
    expect(agentOf({ prompt: 'Be kind' })).not.toHaveProperty('transfer_list');
    expect(agentOf(transfers, { pathway_id: 'p' })).not.toHaveProperty('transfer_list');
  });

  it('has model, temperature and fallback number where they are set', () => {
    const set = { model: 'turbo', temperature: 0, fallback_number: '1 415 555 0133' };
    expect(agentOf({ prompt: 'Be kind', ...set })).toMatchObject({ ...set, fallback_number: '+14155550133' });
    const unset = agentOf({ prompt: 'Be kind' });
    expect(unset).toMatchObject({ fallback_number: null });
    expect(unset).not.toHaveProperty('model');
    expect(unset).not.toHaveProperty('temperature');
  });

  it.each([
    [null, null, 0],
    [null, { production: null, staging: 3 }, 0],
    [null, { production: 2, staging: 3 }, 2],
    ['production', { production: 2, staging: 3 }, 2],
    ['staging', { production: 2, staging: 3 }, 3],
    ['staging', { production: 2, staging: null }, 2],
    ['7', { production: 2, staging: 3 }, 7],
    ['0', { production: 2, staging: 3 }, 0],
  ])('with version %j of %j resolves to version %i', (wanted, published, version) => {
    expect(resolveVersion(wanted, published)).toBe(version);
  });
});

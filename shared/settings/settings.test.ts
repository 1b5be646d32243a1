import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quotas, retention } from './amounts.ts';
import { formerSettings, isFormerSetting, rejectedSettings } from './former.ts';
import { SettingError, settingReader } from './reader.ts';
import { settings } from './table.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the table of settings', () => {
  it('has at most 71, each once, described in sentences', () => {
    const names = settings.map(({ name }) => name);
    expect(names.length).toBeLessThanOrEqual(71);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, meaning } of settings) expect(meaning, name).toMatch(/^[A-Z].+\.$/);
  });

  it('has the unit in every name that needs one, in one spelling', () => {
    const others = settings.filter(({ name }) => /_(MS|SECONDS|SEC|MINUTES|HOURS|BYTES|MB|KB)$/.test(name));
    expect(others).toEqual([]);
    const timed = settings.filter(({ meaning }) => /^(Seconds|Days)\b/.test(meaning));
    expect(timed.length).toBeGreaterThan(3);
    for (const { name, meaning } of timed) {
      expect(name).toMatch(meaning.startsWith('Seconds') ? /_S$/ : /_DAYS$/);
    }
  });
});

/** Merged settings: a value, and what the message must say. */
const merged: Readonly<Record<string, [value: string, words: string]>> = {
  CALL_LIMIT_CONCURRENT: ['5', 'set QUOTAS=outgoingCalls=5'],
  CALL_LIMIT_PER_MINUTE: ['5', 'set QUOTAS=outgoingCallsPerMinute=5'],
  QUOTA_PATHWAYS: ['5', 'set QUOTAS=pathways=5'],
  QUOTA_PATHWAY_VERSIONS: ['5', 'set QUOTAS=pathwayVersions=5'],
  QUOTA_GRAPH_MB: ['2', 'set QUOTAS=graphBytes=2097152'],
  QUOTA_TOOLS: ['5', 'set QUOTAS=tools=5'],
  QUOTA_PERSONAS: ['5', 'set QUOTAS=personas=5'],
  QUOTA_WIDGETS: ['5', 'set QUOTAS=widgets=5'],
  QUOTA_NUMBERS: ['5', 'set QUOTAS=numbers=5'],
  QUOTA_WIDGET_THREADS: ['5', 'set QUOTAS=openThreads=5'],
  QUOTA_WIDGET_THREADS_PER_VISITOR: ['5', 'set QUOTAS=openThreadsOfVisitor=5'],
  QUOTA_WIDGET_THREADS_PER_ADDRESS: ['5', 'set QUOTAS=openThreadsOfAddress=5'],
  QUOTA_SCENARIOS: ['5', 'set QUOTAS=scenarios=5'],
  QUOTA_INTEGRATION_RESOURCES: ['5', 'set QUOTAS=integrationResources=5'],
  QUOTA_CHATS: ['5', 'set QUOTAS=chats=5'],
  QUOTA_TEST_RUNS_WAITING: ['5', 'set QUOTAS=waitingRuns=5'],
  TEST_RUNS_PER_ORG: ['5', 'set QUOTAS=runsAtOnce=5'],
  TEST_RUNS_KEPT: ['5000', 'set QUOTAS=storedRuns=5000'],
  TOOL_RUNS_PER_ORG: ['5', 'set QUOTAS=toolRunsAtOnce=5'],
  CALL_LOG_DAYS: ['30', 'set RETENTION_DAYS=calls=30'],
  TRACE_DAYS: ['30', 'set RETENTION_DAYS=traces=30'],
  TOOL_LOG_DAYS: ['30', 'set RETENTION_DAYS=toolRuns=30'],
  TEST_RECORD_DAYS: ['30', 'set RETENTION_DAYS=testRecords=30'],
  TORNADO_DAYS: ['30', 'set RETENTION_DAYS=tornado=30'],
  WIDGET_THREAD_DAYS: ['30', 'set RETENTION_DAYS=widgetThreads=30'],
  PORT_DAYS: ['400', 'set RETENTION_DAYS=ports=400'],
  AUDIT_DAYS: ['30', 'set RETENTION_DAYS=changes=30'],
  SMTP_REQUIRE_TLS: ['true', 'add ?tls=required to SMTP_URL'],
  SMTP_CA: ['/etc/ca.pem', 'add ?ca=<PEM file> to SMTP_URL'],
  DRACHTIO_PORT: ['9023', 'set DRACHTIO_HOST=<host>:9023'],
  HEP_PORT: ['9061', 'set HEP_HOST=<address>:9061'],
  LLM_CALLER_BASE_URL: ['http://a', 'set LLM_TEST_BASE_URL, '],
  LLM_CALLER_API_KEY: ['secret', 'set LLM_TEST_API_KEY, '],
  LLM_JUDGE_BASE_URL: ['http://a', 'set LLM_TEST_BASE_URL, '],
  LLM_JUDGE_API_KEY: ['secret', 'set LLM_TEST_API_KEY, '],
  ALERT_PROBE_GAP_SECONDS: ['300', 'three times TRUNK_PROBE_INTERVAL_S'],
  TLS_CLIENT_CERTS: ['/etc/clients', 'tls/clients of the data folder'],
  DNS_SERVERS: ['192.0.2.53', '/etc/resolv.conf'],
  CODEC_LIBRARIES: ['/opt/codecs', 'LD_LIBRARY_PATH'],
};

describe('a setting of an earlier version', () => {
  it.each(Object.keys(formerSettings))('%s is rejected by both programs, with what to do', (name) => {
    const [value, words] = merged[name] ?? ['17', 'its value is fixed at '];
    expect(isFormerSetting(name)).toBe(true);
    for (const program of ['control', 'edge'] as const) {
      const read = () => settingReader(program, { [name]: value });
      expect(read).toThrow(SettingError);
      expect(read).toThrow(`${name} is no longer a setting: `);
      expect(read).toThrow(words);
    }
  });

  it('is not also a present one, and its fixed value is in a file that exists', () => {
    const present = new Set<string>(settings.map(({ name }) => name));
    for (const [name, fate] of Object.entries(formerSettings)) {
      expect(present.has(name), name).toBe(false);
      if (typeof fate === 'object' && 'file' in fate)
        expect(existsSync(join(root, fate.file)), `${name}: ${fate.file}`).toBe(true);
    }
    expect(Object.keys(merged).filter((name) => 'fixed' in (formerSettings[name] ?? {}))).toEqual([]);
  });

  it('names only settings that exist in its message', () => {
    const present = new Set<string>([...settings.map(({ name }) => name), 'LD_LIBRARY_PATH']);
    for (const [name, [value]] of Object.entries(merged)) {
      const named =
        rejectedSettings({ [name]: value })
          .join()
          .match(/\b[A-Z]+(?:_[A-Z]+)+\b|\bQUOTAS\b/g) ?? [];
      expect(
        named.filter((word) => word !== name && !present.has(word)),
        name,
      ).toEqual([]);
      expect(named.length, name).toBeGreaterThan(
        name === 'TLS_CLIENT_CERTS' || name === 'DNS_SERVERS' ? 0 : 1,
      );
    }
  });

  it('names a value in the new unit only if the old one was a number', () => {
    const advice = (value: string) => rejectedSettings({ QUOTA_GRAPH_MB: value }).join();
    expect(advice('200')).toContain('set QUOTAS=graphBytes=209715200 instead');
    expect(advice('lots')).toContain('set QUOTAS=graphBytes=<octets> instead');
  });

  it('is ignored when it is empty, as every empty variable is', () => {
    expect(() => settingReader('edge', { QUOTA_TOOLS: '', RING_TIMEOUT_S: ' ' })).not.toThrow();
  });

  it('shares a line with the others of its list, as of two assignments only the last would count', () => {
    const env = { QUOTA_TOOLS: '5', QUOTA_GRAPH_MB: '2', QUOTAS: 'widgets=4, tools=6', CALL_LOG_DAYS: '3' };
    expect(rejectedSettings({ ...env, AUDIT_DAYS: '9' })).toEqual([
      'QUOTA_TOOLS, QUOTA_GRAPH_MB are no longer settings: set QUOTAS=widgets=4,tools=6,graphBytes=2097152 instead (docs/settings.md)',
      'CALL_LOG_DAYS, AUDIT_DAYS are no longer settings: set RETENTION_DAYS=calls=3,changes=9 instead (docs/settings.md)',
    ]);
  });

  it.each(Object.keys(merged))('%s leads to values that are accepted', (name) => {
    const [value] = merged[name] ?? [''];
    const advice = rejectedSettings({ [name]: value }).join();
    expect(advice).not.toContain('NaN');
    const [, list, entries] = /set (QUOTAS|RETENTION_DAYS)=(\S+) instead/.exec(advice) ?? [];
    if (!list || !entries) return;
    const read = settingReader('control', { [list]: entries });
    const amounts =
      list === 'QUOTAS' ? read.amounts('QUOTAS', quotas) : read.amounts('RETENTION_DAYS', retention);
    expect(Object.entries(amounts).map(([kind, amount]) => `${kind}=${amount}`)).toContain(entries);
  });

  it('is reported with all others, one line each, and no secret is shown', () => {
    const read = () => settingReader('control', { LLM_JUDGE_API_KEY: 'sk-secret', TRACE_DAYS: '7' });
    expect(read).toThrow(/^LLM_JUDGE_API_KEY is [^\n]+\nTRACE_DAYS is [^\n]+$/);
    expect(read).toThrow(/^((?!sk-secret)[\s\S])*$/);
  });
});

describe('a variable that is not a setting', () => {
  it('is ignored', () => {
    expect(settingReader('edge', { TRUNKLINE_COLOR: 'red' }).integer('MAX_CALLS', 1, 1000)).toBe(500);
  });
});

/** What the doctor says about firewalls, by rules that their programs printed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Finding, runChecks } from '../scripts/doctor/check.ts';
import { checksOf } from '../scripts/doctor/checks.ts';
import { commandFor } from '../scripts/doctor/firewall.ts';
import { loadParts } from '../scripts/doctor/parts.ts';
import { readPlace } from '../scripts/doctor/read-place.ts';
import { firewalld, noRules, ownRules, rejecting, ufwIptables, ufwNft } from './kit/fakes/firewall-rules.ts';

const parts = await loadParts();
const checks = checksOf(parts).filter(({ name }) => name === 'ports.firewall');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  mkdirSync(join(folder, 'net'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @param printed what each program prints; others are missing */
async function found(printed: Readonly<Record<string, string>>): Promise<Finding> {
  const place = readPlace({ programs: ['edge'], settingsFolder: null, apiKey: null }, parts, {
    TRUNKLINE_DATA: folder,
  });
  const [finding] = await runChecks(checks, {
    ...place,
    proc: folder,
    runTool: async (program) => {
      const output = printed[program];
      return output === undefined ? { reason: `${program} is not installed` } : { output };
    },
  });
  if (!finding) throw new Error('no finding');
  return finding;
}

const withoutLine = (text: string, part: string) => {
  const lines = text.split('\n').filter((line) => !line.includes(part));
  expect(lines.length).toBeLessThan(text.split('\n').length);
  return lines.join('\n');
};

/** /proc of a machine with tables of iptables-legacy. */
const haveLegacyTables = () => writeFileSync(join(folder, 'net', 'ip_tables_names'), 'filter\nnat\n');

it('a machine without rules is open', async () => {
  expect(await found({ nft: noRules })).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('no firewall here drops what comes in'),
  });
});

it('without nft the ports that peers need are said', async () => {
  expect(await found({})).toMatchObject({
    state: 'skipped',
    found: expect.stringMatching(/nft is not installed\); peers must reach TCP 5061 and UDP 10000 to 20000/),
  });
});

it('a range that ufw opens is read with iptables, because nft cannot', async () => {
  expect(await found({ nft: ufwNft, 'iptables-nft': ufwIptables })).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('rules of ufw name the ports'),
  });
  expect(await found({ nft: ufwNft })).toMatchObject({
    state: 'skipped',
    found: expect.stringContaining('rules of ufw'),
  });
});

it('a range that ufw does not open is closed, and ufw opens it', async () => {
  const nft = ufwNft.replace(/^.*"multiport".*$\n?/m, '').replace(/,\s*$/, '');
  const rules = { nft, 'iptables-nft': withoutLine(ufwIptables, 'multiport') };
  expect(await found(rules)).toMatchObject({
    state: 'warning',
    found: 'ufw drops what comes in by default, and no accepting rule names udp 10000-20000',
    advice: expect.stringContaining('ufw allow 10000:20000/udp'),
  });
});

it('rules of iptables-legacy, which nft does not show, are read too', async () => {
  haveLegacyTables();
  expect(await found({ nft: noRules, 'iptables-legacy': ufwIptables })).toMatchObject({ state: 'ok' });
  const closed = withoutLine(ufwIptables, '--dport 5061');
  expect(await found({ nft: noRules, 'iptables-legacy': closed })).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('names tcp 5061'),
  });
  expect(await found({ 'iptables-legacy': closed })).toMatchObject({ state: 'warning' });
  expect(await found({ nft: noRules })).toMatchObject({
    state: 'skipped',
    found: expect.stringContaining('(iptables-legacy is not installed); peers must reach'),
  });
});

it('firewalld rejects by its last rule, and what it forwards is not let in', async () => {
  expect(await found({ nft: firewalld })).toMatchObject({
    state: 'warning',
    found: 'firewalld drops what comes in by default, and no accepting rule names udp 10000-20000',
    advice: expect.stringContaining('firewall-cmd --permanent --add-port=10000-20000/udp'),
  });
  const inward = firewalld.replace(
    /("chain": )"filter_FORWARD"(, "handle": 12)/,
    '$1"filter_IN_public_allow"$2',
  );
  expect(await found({ nft: inward })).toMatchObject({ state: 'ok' });
});

it('so does the last rule of iptables', async () => {
  expect(await found({ nft: rejecting })).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('rules of iptables name the ports'),
  });
  expect(await found({ nft: withoutPort(rejecting) })).toMatchObject({
    state: 'warning',
    advice: expect.stringContaining('iptables -I INPUT -p tcp --dport 5061 -j ACCEPT'),
  });
});

const withoutPort = (text: string) => text.replace('"right": 5061}', '"right": 22}');

it('sets and maps of nftables are read; those that are not in the ruleset cannot be', async () => {
  expect(await found({ nft: ownRules })).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('rules of nftables name the ports'),
  });
  expect(await found({ nft: ownRules.replace('"elem": [5061]', '"elem": [22]') })).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('names tcp 5061'),
  });
  expect(await found({ nft: ownRules.replace('"name": "open"', '"name": "another"') })).toMatchObject({
    state: 'skipped',
    found: expect.stringContaining('rules of nftables about sets or maps'),
  });
});

it('the advice has the command of what writes the rules', () => {
  const media = { protocol: 'udp', from: 10_000, to: 20_000 };
  expect(commandFor('nftables', media)).toBe(
    'nft insert rule inet filter input udp dport 10000-20000 accept',
  );
  expect(commandFor('iptables', media)).toBe('iptables -I INPUT -p udp --dport 10000:20000 -j ACCEPT');
});

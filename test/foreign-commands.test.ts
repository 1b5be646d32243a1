/** Commands of pages for programs of others: each is run by a test, or is here with why nobody runs it. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentedCommands } from './kit/documented-commands.ts';

const root = join(import.meta.dirname, '..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Checked by commands-in-documents.test.ts, or run by guides.test.ts. */
const ours = [
  'npm',
  'npx',
  'node',
  'node_modules/.bin/node',
  'trunkline',
  'curl',
  'api',
  'systemctl',
  'journalctl',
  'kubectl',
];

/** Of the shell and of every Debian: they move files and filter what others print. */
const ofEveryDebian = [
  'cat',
  'cd',
  'chmod',
  'chown',
  'cp',
  'cut',
  'do',
  'done',
  'echo',
  'export',
  'grep',
  'install',
  'jq',
  'ls',
  'runuser',
  'tail',
  'until',
  'useradd',
  '$EDITOR',
  // A file behind `>`.
  '/etc/kamailio/tls/trusted.pem',
  'bootstrap.json',
];

/** Which test runs what a page shows of a program; it names page and program. */
const runBy: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  asterisk: { 'pbx/asterisk.md': 'test/peers/pbx.test.ts' },
  haproxy: { 'replicas.md': 'test/system/several-controls.test.ts' },
  kamailio: { 'pbx/kamailio.md': 'test/peers/pbx.test.ts', 'fleet.md': 'test/peers/edge-proxy.test.ts' },
  kamcmd: { 'fleet.md': 'test/peers/edge-proxy.test.ts' },
  openssl: {
    'engines.md': 'test/system/guides.test.ts',
    // With all other commands of that page.
    'guides/webhooks.md': 'test/guides.test.ts',
  },
};

/** Why no test runs it. */
const notRun: Readonly<Record<string, string>> = {
  'apt-get':
    'changes the machine; npm run package-test installs, upgrades and removes the packages in fresh roots',
  dig: 'asks name servers of the reader',
  drachtio: 'in no Debian; the tests start it where SIP_ENGINE names it, with that file',
  fs_cli: 'FreeSWITCH is in no Debian; its page says so',
  git: 'fetches the sources from where the reader has them',
  man: 'npm run package-test reads the pages in fresh roots',
  nft: 'the page shows a part of a rule',
  opensips: 'not among the peers of the set-up; its page says so',
  podman: 'needs images of a registry',
  sha256sum: 'npm run package-test checks the sums of the packages',
  socat: 'not among the peers of the set-up; several-controls.test.ts asks the same socket itself',
  sysctl: 'changes the machine',
  'systemd-analyze': 'deploy-files.test.ts runs it on the files of the units',
  'xdg-open': 'opens a window',
};

const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.md'),
);
const commands = pages.flatMap((page) => {
  const lines = textOf(join('docs', page)).split('\n');
  return documentedCommands(page, lines.join('\n')).map(({ place, words }) => ({
    page,
    program: words[0] ?? '',
    words,
    isPrompted: /^\s*\$ /.test(lines[Number(place.split(':')[1]) - 1] ?? ''),
  }));
});

test('what a prompt shows is a program of ours, of every Debian, or one whose tests are known', () => {
  const known = [...ours, ...ofEveryDebian, ...Object.keys(runBy), ...Object.keys(notRun)];
  const prompted = commands.filter(({ isPrompted }) => isPrompted);
  expect(prompted.length).toBeGreaterThan(80);
  expect(
    prompted
      .filter(({ program }) => !known.includes(program))
      .map(({ page, words }) => `${page}: ${words.join(' ')}`),
  ).toEqual([]);
});

test('the commands of programs that tests have are run, on each page', () => {
  const named = commands.filter(({ program, words }) => program in runBy && words.length > 1);
  expect(new Set(named.map(({ program }) => program))).toEqual(new Set(Object.keys(runBy)));
  const missing = named.filter(({ page, program }) => {
    const file = runBy[program]?.[page];
    if (file === undefined) return true;
    return page.startsWith('guides/') ? false : !textOf(file).includes(`('${page}', '${program}')`);
  });
  expect(missing.map(({ page, words }) => `${page}: ${words.join(' ')}`)).toEqual([]);
});

test('no reason is there for a program that no page shows', () => {
  const shown = new Set(commands.filter(({ words }) => words.length > 1).map(({ program }) => program));
  expect(Object.keys(notRun).filter((program) => !shown.has(program))).toEqual([]);
});

test('every filter of jq is one that jq compiles', () => {
  const filters = commands
    .filter(({ program, words }) => program === 'jq' && words.length > 1)
    .map(({ page, words }) => ({ page, filter: words.slice(1).find((word) => !/^-\w+$/.test(word)) ?? '' }))
    // The end of `$(`, which began some lines before.
    .map(({ page, filter }) => ({ page, filter: filter.replace(/^([^(]*)\)$/, '$1') }));
  expect(filters.length).toBeGreaterThan(30);
  const compile = (all: typeof filters) =>
    spawnSync('jq', ['-n', `${all.map(({ filter }, at) => `def f${at}: (${filter});`).join('\n')} empty`])
      .status;
  // One start for all, unless one is wrong.
  const wrong = compile(filters) === 0 ? [] : filters.filter((one) => compile([one]) !== 0);
  expect(wrong).toEqual([]);
});

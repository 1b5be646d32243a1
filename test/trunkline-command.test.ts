/** `trunkline`: its table of commands, and what is made from it. */
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bashCompletion } from '../scripts/command/completion.ts';
import { readEnvironmentFile } from '../scripts/command/environment-file.ts';
import { enterInstallation, hasCommand, readInstallation } from '../scripts/command/installation.ts';
import { nearest } from '../scripts/command/nearest.ts';
import { commandOf, helpText } from '../scripts/command/run.ts';
import { type CommandRow, commandTable } from '../scripts/command/table.ts';
import { createAuthority } from './kit/fakes/certificates.ts';

const root = join(import.meta.dirname, '..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const names = commandTable.map(({ name }) => name);
const rowOf = (name: string) => commandOf(name, commandTable);

/** Where a program declares its options, if not in its own file. */
const optionFiles: Readonly<Record<string, readonly string[]>> = {
  admin: ['control/admin/command.ts'],
  'agent-test': ['scripts/agent-test/options.ts'],
  doctor: ['scripts/doctor/command.ts'],
  backup: ['control/backup.ts', 'control/operations/arguments.ts'],
  restore: ['control/restore.ts', 'control/operations/arguments.ts'],
  'migrate-database': ['control/migrate-database.ts', 'control/operations/arguments.ts'],
  'seed-demo': ['control/operations/arguments.ts'],
};

test('each of the former npm scripts is a command, and runs the same program', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
  for (const name of [
    'admin',
    'call',
    'agent-test',
    'doctor',
    'backup',
    'restore',
    'migrate-database',
    'seed-demo',
  ])
    expect(scripts[name]).toMatch(new RegExp(`node ${rowOf(name).file.replace(/\.ts$/, '.(ts|mjs)')}$`));
});

test.each(commandTable)('$name: the table has all options of its program', ({ name, file, options }) => {
  const declared = (optionFiles[name] ?? [file]).flatMap((one) =>
    [...text(one).matchAll(/['{ ]([a-z][a-z-]*)'?: \{ type: '/g)].map(([, option = '']) => option),
  );
  expect([...options, 'help'].sort()).toEqual(declared.sort());
});

test('the help has one line for each command, and no line is wider than a terminal of 120 columns', () => {
  const lines = helpText(commandTable).split('\n');
  for (const { name, help } of commandTable)
    expect(lines.filter((line) => line.startsWith(`  ${name} `) && line.endsWith(help))).toHaveLength(1);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

test.each([
  ['completion', '--help'],
  ['help', 'completion'],
])('trunkline %s %s shows what it takes', (...words) => {
  const { stdout, status } = spawnSync(process.execPath, [join(root, 'scripts/trunkline.ts'), ...words], {
    encoding: 'utf8',
  });
  expect([status, stdout.split('\n')[0]]).toEqual([0, 'Usage: trunkline completion bash']);
});

test.each([
  ['bakup', 'backup'],
  ['back', 'backup'],
  ['agenttest', 'agent-test'],
  ['clal', 'call'],
  ['migrate', 'migrate-database'],
  ['frobnicate', null],
  ['x', null],
])('instead of "%s" the nearest command is %s', (word, expected) => {
  expect(nearest(word, names)).toBe(expected);
});

test('an unknown command gets the nearest name, one of the other package gets the name of that package', () => {
  expect(() => rowOf('bakup')).toThrow('the nearest is "backup"');
  const ofEdge = commandTable.filter(({ packages }) => packages.includes('edge'));
  expect(() => commandOf('admin', ofEdge)).toThrow('it belongs to trunkline-control');
});

describe('bash completes', () => {
  const row = (name: string, more: Partial<CommandRow>): CommandRow => ({
    name,
    takes: '',
    help: '',
    file: '',
    packages: ['control'],
    as: 'owner',
    options: ['json'],
    ...more,
  });
  const phrases = ['org create', 'org list', 'key list'].map((one) => ({ text: one, takes: '', help: '' }));
  const rows = [row('admin', { phrases: async () => phrases }), row('backup', {})];

  test.each([
    ['a', 'admin'],
    ['--v', '--version'],
    ['admin o', 'org'],
    ['admin org l', 'list'],
    ['admin key ', 'list'],
    ['backup --j', '--json'],
    ['completion ', 'bash'],
  ])('"trunkline %s" to %s', async (typed, expected) => {
    const words = ['trunkline', ...typed.split(' ')];
    const script = `${await bashCompletion(rows)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_trunkline; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
    expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: expected, stderr: '' });
  });
});

describe('a file of settings', () => {
  test('is read as systemd reads it', () => {
    const file = [
      '# a comment',
      '; another',
      '',
      'CONTROL_PORT=8080',
      'DATABASE_URL="postgres://u:p#x@h/d"',
      "LLM_API_KEY='a\\b\"c'",
      'MAIL_FROM=Trunk\\"line <a@example.com> # not a comment',
      'QUOTAS="pathways=5, \\',
      'tools=6"',
    ];
    expect(readEnvironmentFile(file.join('\n'))).toEqual({
      CONTROL_PORT: '8080',
      DATABASE_URL: 'postgres://u:p#x@h/d',
      LLM_API_KEY: 'a\\b"c',
      MAIL_FROM: 'Trunk"line <a@example.com> # not a comment',
      QUOTAS: 'pathways=5, tools=6',
    });
  });

  test.each([
    ['export A=1', 'line 1 is not NAME=value'],
    ['A=1\nB="2', 'line 2: the quote in the value of B does not end'],
  ])('%j is refused', (file, message) => {
    expect(() => readEnvironmentFile(file)).toThrow(message);
  });
});

describe('an installed package', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-command-'));
    writeFileSync(join(folder, 'control.env'), 'CONTROL_PORT=1\nLOG_LEVEL=warn\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const installation = () => ({
    program: 'control',
    settings: join(folder, 'control.env'),
    data: '/var/lib/trunkline',
    user: 'trunkline',
  });

  test('is found by its file, and there is none in a checkout', () => {
    writeFileSync(join(folder, 'installed.json'), JSON.stringify(installation()));
    expect(readInstallation(join(folder, 'installed.json'))).toEqual(installation());
    expect(readInstallation()).toBeNull();
    writeFileSync(join(folder, 'installed.json'), '{}');
    expect(() => readInstallation(join(folder, 'installed.json'))).toThrow('is damaged');
  });

  test('has the commands of its package; a checkout has all', () => {
    const ofEdge = { ...installation(), program: 'edge' };
    expect(names.filter((name) => hasCommand(rowOf(name), ofEdge))).toContain('call');
    expect(hasCommand(rowOf('admin'), ofEdge)).toBe(false);
    expect(hasCommand(rowOf('admin'), null)).toBe(true);
  });

  test('lends its settings to a command, where the caller has none of its own', () => {
    const env: NodeJS.ProcessEnv = { LOG_LEVEL: 'debug' };
    enterInstallation(rowOf('call'), installation(), { env, username: 'ann', isRoot: false });
    expect(env).toEqual({ CONTROL_PORT: '1', LOG_LEVEL: 'debug', TRUNKLINE_DATA: '/var/lib/trunkline' });
  });

  test('refuses to open the data folder for a user who does not own it', () => {
    const caller = { env: {}, username: 'ann', isRoot: false };
    expect(() => enterInstallation(rowOf('backup'), installation(), caller)).toThrow('sudo trunkline backup');
    expect(() =>
      enterInstallation(rowOf('backup'), installation(), { ...caller, env: { TRUNKLINE_DATA: folder } }),
    ).not.toThrow();
  });

  test('trusts the authorities of NODE_EXTRA_CA_CERTS in its settings, which Node does not read by then', async () => {
    const authority = createAuthority();
    const file = join(folder, 'authority.crt');
    writeFileSync(file, authority.cert);
    writeFileSync(join(folder, 'control.env'), `NODE_EXTRA_CA_CERTS=${file}\n`);
    const server = createServer(authority.issue({ names: ['DNS:localhost'] }), (_, response) =>
      response.end('ok'),
    );
    await once(server.listen(0), 'listening');
    const { port } = server.address() as AddressInfo;
    const program = `
      import { enterInstallation } from '${root}/scripts/command/installation.ts';
      import { commandTable } from '${root}/scripts/command/table.ts';
      const ask = () => fetch('https://localhost:${port}').then((one) => one.text(), ({ cause }) => cause.code);
      console.log(await ask());
      const row = commandTable.find(({ name }) => name === 'call');
      enterInstallation(row, ${JSON.stringify(installation())}, { env: {}, username: 'ann', isRoot: false });
      console.log(await ask());`;
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
      expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^[A-Z_]+$/), 'ok']);
    } finally {
      server.close();
    }
  });

  test('names a file of authorities that cannot be read', () => {
    writeFileSync(join(folder, 'control.env'), 'NODE_EXTRA_CA_CERTS=/missing.crt\n');
    const caller = { env: {}, username: 'ann', isRoot: false };
    expect(() => enterInstallation(rowOf('call'), installation(), caller)).toThrow('/missing.crt');
  });

  test('names the line of its settings that cannot be read', () => {
    writeFileSync(join(folder, 'control.env'), 'A=1\nnonsense\n');
    const caller = { env: {}, username: 'ann', isRoot: false };
    expect(() => enterInstallation(rowOf('call'), installation(), caller)).toThrow(
      'line 2 is not NAME=value',
    );
  });
});

/** Faults and crashes of the real programs under the supervisor of `npm start`: reported, drained, and restarted. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBootstrap } from '../../scripts/supervisor/bootstrap.ts';
import { longTest } from '../kit/long-test.ts';
import { Api } from '../kit/programs/api.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { freeTcpPort, freeUdpRange } from '../kit/programs/ports.ts';
import { commandLine, family, isAlive } from '../kit/programs/processes.ts';

const root = join(import.meta.dirname, '..', '..');
const limitMs = 120_000;

let env: NodeJS.ProcessEnv;
let folder: string;
let supervisor: ChildProcess;
let output = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-faults-'));
  const rtp = await freeUdpRange(40);
  env = {
    ...process.env,
    NODE_OPTIONS: `--import ${join(root, 'test', 'kit', 'fakes', 'fault-on-signal.mjs')}`,
    TRUNKLINE_DATA: join(folder, 'data'),
    CONTROL_PORT: String(await freeTcpPort()),
    SIP_TLS_PORT: String(await freeTcpPort()),
    RTP_PORT_MIN: String(rtp),
    RTP_PORT_MAX: String(rtp + 39),
  };
  supervisor = spawn(process.execPath, [join(root, 'test', 'kit', 'programs', 'supervisor-entry.ts')], {
    cwd: root,
    env,
  });
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-200_000);
  };
  supervisor.stdout?.on('data', keep);
  supervisor.stderr?.on('data', keep);
  await eventually('Trunkline to be ready', () => /Trunkline is ready/.test(saw(output)) || null, limitMs);
}, limitMs);

afterAll(async () => {
  for (const pid of members()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const members = () => (supervisor.pid === undefined ? [] : family(supervisor.pid));
const findPid = (program: string) =>
  members().find((pid) => commandLine(pid).endsWith(`${program}/main.mjs`));

function pidOf(program: string): number {
  const pid = findPid(program);
  if (pid === undefined) throw new Error(`${program} does not run\n${output}`);
  return pid;
}

async function replaced(program: string, before: number): Promise<number> {
  return eventually(
    `another process of ${program}`,
    () => {
      const now = saw(findPid(program));
      return now === before ? null : now;
    },
    limitMs,
  );
}

async function healthy(): Promise<void> {
  await eventually(
    '/health to be 200',
    async () => {
      const response = await fetch(`http://127.0.0.1:${env.CONTROL_PORT}/health`).catch(() => null);
      return saw(response?.status) === 200 || null;
    },
    limitMs,
  );
}

interface Placed {
  readonly ended: Promise<number | null>;
  readonly said: () => string;
}

function call(): Placed {
  const child = spawn('npm', ['run', '--silent', 'call'], { cwd: root, env: { ...env, NODE_OPTIONS: '' } });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  // Not `exit`: its last output may not have arrived yet.
  return { ended: new Promise((resolve) => child.once('close', resolve)), said: () => said };
}

const faults = () => join(folder, 'data', 'faults');
const reportsOf = (program: string) => {
  const name = program.split('/').at(-1) ?? '';
  try {
    return readdirSync(faults()).filter((file) => file.startsWith(`${name}-`));
  } catch {
    return [];
  }
};

async function api(): Promise<Api> {
  const keys = await readBootstrap(join(folder, 'data', 'bootstrap.json'));
  return new Api(`http://127.0.0.1:${env.CONTROL_PORT}`, keys.api_key);
}

test.each([
  ['control', 'work'],
  ['edge', 'calls'],
  ['edge/engine', 'dialogs'],
])('a fault in %s is reported, without secrets, and the program restarts', async (program, underWay) => {
  await healthy();
  const before = pidOf(program);
  process.kill(before, 'SIGUSR2');
  await replaced(program, before);
  await healthy();
  const [file = ''] = await eventually(`a report of ${program}`, () => {
    const found = reportsOf(program);
    return found.length > 0 ? found : null;
  });
  const text = readFileSync(join(faults(), file), 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    program: program.split('/').at(-1),
    kind: 'uncaughtException',
    underWay: { [underWay]: expect.anything() },
  });
  expect(text).toContain('broken on purpose');
  expect(text).not.toContain('secret-of-a-peer');
  expect(text.length).toBeLessThan(100_000);
  expect(statSync(join(faults(), file)).mode & 0o077).toBe(0);
});

test('a call that is up during a fault of the edge ends normally, and is in the log once', async () => {
  await healthy();
  const placed = call();
  await eventually('the call to be up', () => /answered/.test(saw(placed.said())) || null, limitMs);
  const before = pidOf('edge');
  process.kill(before, 'SIGUSR2');
  expect(await placed.ended, placed.said()).toBe(0);
  expect(placed.said()).toContain('"outcome": "completed"');
  await replaced('edge', before);
  await healthy();
  expect(await (await api()).calls()).toHaveLength(1);
});

longTest(
  'control restarts after each of six kills in a row, and the edge reconnects',
  async () => {
    await healthy();
    for (let kill = 0; kill < 6; kill++) {
      const before = pidOf('control');
      process.kill(before, 'SIGKILL');
      await replaced('control', before);
    }
    await healthy();
    expect(supervisor.exitCode).toBeNull();
    expect(output).toMatch(/control has ended \d+ times in a row: read its last "fatal" log line/);
  },
  300_000,
);

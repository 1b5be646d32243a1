/** `npm start` and `npm run call` as for a new user, with the set-up already done. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { edgeMetrics } from '#shared/edge-metrics.ts';
import type { Result } from '../../scripts/doctor/check.ts';
import { doctor, exit } from '../../scripts/doctor/command.ts';
import { readBootstrap } from '../../scripts/supervisor/bootstrap.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort, freeUdpRange, isTcpFree } from '../kit/programs/ports.ts';
import { commandLine, family, isAlive } from '../kit/programs/processes.ts';

/** Time-out for a hang. */
const limitMs = 150_000;
const root = join(import.meta.dirname, '..', '..');

let env: NodeJS.ProcessEnv;
let folder: string;
let trunkline: Run | null = null;

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function npm(script: string, args: readonly string[] = []): Run {
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], { cwd: root, env });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  // Not `exit`: its last output may not have arrived yet.
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, ended };
}

async function start(): Promise<Run> {
  const started = npm('start');
  await eventually(
    `readiness in the output`,
    () => {
      if (started.child.exitCode !== null) throw new Error(started.output());
      return /Trunkline is ready/.test(started.output()) ? true : null;
    },
    limitMs,
  ).catch((error: unknown) => {
    killAll(started);
    throw new Error(`${String(error)}\n${started.output()}`);
  });
  return started;
}

function members({ child }: Run): number[] {
  return child.pid === undefined ? [] : family(child.pid);
}

/** npm and all its descendants. */
function running(): number[] {
  return trunkline ? members(trunkline) : [];
}

function killAll(run: Run): void {
  for (const pid of members(run)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

/** @param program end of the command line */
function pidOf(program: string): number {
  const pid = findPid(program);
  if (pid === undefined) throw new Error(`${program} does not run`);
  return pid;
}

function findPid(program: string): number | undefined {
  return running().find((pid) => commandLine(pid).endsWith(program));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-start-'));
  const rtp = await freeUdpRange(40);
  env = {
    ...process.env,
    TRUNKLINE_DATA: join(folder, 'data'),
    CONTROL_PORT: String(await freeTcpPort()),
    SIP_TLS_PORT: String(await freeTcpPort()),
    // Peers dial a name that this machine does not know; the command that places a call does not need it.
    SIP_PUBLIC_HOST: 'sip.example.invalid',
    RTP_PORT_MIN: String(rtp),
    RTP_PORT_MAX: String(rtp + 39),
  };
  trunkline = await start();
});

afterAll(async () => {
  if (trunkline) killAll(trunkline);
  await rm(folder, { recursive: true, force: true });
});

test('start-up ends with the listeners, the location of the key, and a command that places a call', () => {
  const said = trunkline?.output() ?? '';
  expect(said).toContain(`SIP over TLS    0.0.0.0:${env.SIP_TLS_PORT}`);
  expect(said).toContain(`http://127.0.0.1:${env.CONTROL_PORT}`);
  expect(said).toContain('bootstrap.json');
  expect(said.trimEnd()).toContain('npm run call');
  expect(said).not.toContain('lease');
});

test('that command places a call and shows its record', async () => {
  const call = npm('call');
  expect(await call.ended, call.output()).toBe(0);
  const said = call.output();
  expect(said).toMatch(/answered/);
  expect(said).toMatch(/received [\d.]+ s of audio, [\d.]+ s with sound/);
  expect(said).toContain('pressed 1');
  expect(said).toContain('"outcome": "completed"');
  expect(said).toContain('"peer_hears": "yes"');
  expect(said).toContain('/trace.pcap');
});

test('a call to an unknown number fails with the reason', async () => {
  const call = npm('call', ['+14155559999']);
  expect(await call.ended).toBe(1);
  expect(call.output()).toContain(
    '+14155559999 is not a number of the organization that the first start made',
  );
});

test('a call that is refused ends with what to change', async () => {
  const { api_key, control_url } = await readBootstrap(join(folder, 'data', 'bootstrap.json'));
  const number = '+14155550102';
  const options = { allowed_ips: ['203.0.113.9'] };
  const answer = await fetch(`${control_url}/v1/sip/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number: number, updates: { type: 'inbound', options } }),
  });
  expect(answer.status).toBe(200);
  const said = await eventually('the edge to refuse the call', async () => {
    const call = npm('call', [number]);
    return (await call.ended) === 1 ? call.output() : null;
  });
  expect(said).toContain('403');
  expect(said).toContain('add 127.0.0.1 to allowed_ips');
});

test('the doctor sees all parts while they run, and finds nothing that has failed', async () => {
  let said = '';
  const out = (text: string) => {
    said += text;
  };
  // The ports of this test suffice for few calls.
  const code = await doctor(
    ['--json'],
    { ...env, MAX_CALLS: '5', SIP_PUBLIC_HOST: '' },
    { out, err: out, coloured: false },
  );
  const { checks }: { checks: readonly Result[] } = JSON.parse(said);
  expect(checks.filter(({ state }) => state === 'failed')).toEqual([]);
  expect(code).toBe(exit.good);
  const works = new Set(checks.filter(({ state }) => state === 'ok').map(({ name }) => name));
  expect([...works]).toEqual(
    expect.arrayContaining([
      ...['settings.edge', 'settings.control', 'data.folder', 'database.schema', 'database.integrity'],
      ...['database.key', 'certificates.key', 'certificates.chain', 'certificates.validity', 'ports.sip'],
      ...['ports.control', 'engine.listens', 'media.worker', 'control.reachable', 'control.token'],
      ...['control.health', 'clock.offset'],
    ]),
  );
  const port = checks.find(({ name }) => name === 'ports.sip');
  expect(port?.found).toContain('the engine listens on');
});

test('each metric of the running edge is in the table of metrics, with its labels', async () => {
  const { operator_key: key } = await readBootstrap(join(folder, 'data', 'bootstrap.json'));
  const url = `http://127.0.0.1:${env.CONTROL_PORT}/metrics`;
  const text = await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text();
  const shown = [...text.matchAll(/^(trunkline_(?:edge|engine)_\w+)\{(.*)\} /gm)].map(
    ([, name = '', labels = '']) => {
      const names = [...labels.matchAll(/(\w+)="/g)]
        .map(([, label]) => label)
        .filter((label) => label !== 'edge');
      return `${name}{${names.join(',')}}`;
    },
  );
  const known = new Set([...edgeMetrics].map(([name, { labels }]) => `${name}{${labels.join(',')}}`));
  expect(shown.length).toBeGreaterThan(50);
  expect(shown.filter((series) => !known.has(series))).toEqual([]);
});

test.each(['edge', 'control'])('%s restarts after a crash, and calls work again', async (program) => {
  const died = pidOf(`${program}/main.ts`);
  process.kill(died, 'SIGKILL');
  await eventually(
    `${program} to be started again`,
    () => {
      const now = findPid(`${program}/main.ts`);
      return now !== undefined && now !== died ? true : null;
    },
    limitMs,
  );
  await eventually(
    '/health to be 200',
    async () => {
      const response = await fetch(`http://127.0.0.1:${env.CONTROL_PORT}/health`).catch(() => null);
      return response?.status === 200 ? true : null;
    },
    limitMs,
  );
  const call = npm('call');
  expect(await call.ended, call.output()).toBe(0);
});

test('SIGTERM to npm ends everything', async () => {
  const all = running();
  expect(all.length).toBeGreaterThan(4);
  trunkline?.child.kill('SIGTERM');
  expect(await trunkline?.ended).toBe(0);
  await eventually('all processes to be gone', () => (all.some(isAlive) ? null : true));
  for (const port of [env.CONTROL_PORT, env.SIP_TLS_PORT]) expect(await isTcpFree(Number(port))).toBe(true);
});

test('the second start has nothing to set up', async () => {
  trunkline = await start();
  expect(trunkline.output()).not.toMatch(/npm packages|media worker/);
});

test('edge and control end when the supervisor is killed', async () => {
  const all = running();
  process.kill(pidOf('scripts/start.mjs'), 'SIGKILL');
  await eventually('all processes to be gone', () => (all.some(isAlive) ? null : true));
});

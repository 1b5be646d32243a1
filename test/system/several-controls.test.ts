/**
 * Two control planes on one PostgreSQL server behind HAProxy, with edges that are linked through it: one is killed under
 * calls and requests, and then one is stopped as an operator would. Nothing is lost, and nothing is recorded twice.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, Agent as SecureAgent, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PathwayList } from '#shared/api/pathways.ts';
import { type PostgresServer, startPostgres } from '../kit/db/postgres-server.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { longTest } from '../kit/long-test.ts';
import { AgentTestRuns } from '../kit/programs/agent-test-runs.ts';
import { Api } from '../kit/programs/api.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { edgeId, FurtherEdge } from '../kit/programs/further-edge.ts';
import { runShown, shownCommand } from '../kit/shown-commands.ts';
import { Haproxy } from '../peers/haproxy.ts';

const folder = mkdtempSync(join(tmpdir(), 'several-controls-'));
const authority = createAuthority();
const number = '+14155550130';
const greeting = 'One or two?';
const notice = 'No speech recognition is configured: this call is driven by key presses.';
/** When the key comes before the greeting has been played. */
const interrupted = 'Interrupted by a key press';
/** A standing call that is silent for ten seconds, as on a slow machine, is greeted again. */
const silent = '"No input" is taken: nothing was heard or pressed';
const linesOfStopped = [notice, greeting];
const linesOfFinished = [
  ...linesOfStopped,
  'Pressed 1',
  'key 1 follows the edge "User pressed 1"',
  'the pathway reached its End Call node',
  'One.',
];
const silence = Buffer.alloc(160, 0xff);

let server: PostgresServer;
let database: pg.Client;
let target: Server;
let controls: [ControlProgram, ControlProgram];
let haproxy: Haproxy;
let edge: FurtherEdge;
/** Starts before the last test. */
let second: FurtherEdge | undefined;
let edgeCa: string;
/** Settings of the edges. */
let behindHaproxy: Record<string, string>;
/** Through HAProxy. */
let api: Api;
/** Bodies of webhooks, in the order of their arrival. */
const received: string[] = [];
const callers: Caller[] = [];
/** Ids of calls that a command ended. */
const stopped = new Set<string>();

beforeAll(async () => {
  writeFileSync(join(folder, 'ca.pem'), authority.cert);
  const pair = authority.issue({});
  target = createServer(pair, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      received.push(Buffer.concat(parts).toString('utf8'));
      response.end();
    });
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  server = await startPostgres();
  database = new pg.Client({ connectionString: server.url('postgres') });
  await database.connect();
  const trust = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
  const settings = {
    ...trust,
    DATABASE_URL: server.url('postgres'),
    TRUNKLINE_SECRET_KEY: '11'.repeat(32),
    RATE_LIMIT_PER_MINUTE: '1000000',
    TRUSTED_PROXIES: '127.0.0.1',
  };
  controls = [new ControlProgram(settings), new ControlProgram(settings)];
  for (const control of controls) await control.start();
  const [first, second] = controls;
  haproxy = await Haproxy.start({
    pair,
    controls: [first.forEdges.controlPort, second.forEdges.controlPort],
  });
  const url = `https://127.0.0.1:${haproxy.port}`;
  api = new Api(url, first.keys.api_key, new SecureAgent({ ca: authority.cert }));
  behindHaproxy = { ...trust, CONTROL_URL: url };
  edge = await FurtherEdge.start(first.forEdges, behindHaproxy);
  edgeCa = readFileSync(join(first.folder, 'tls', 'ca.crt'), 'utf8');
  const pathway = await api.pathway(
    'menu',
    [
      { id: 'menu', type: 'Default', data: { name: 'Menu', text: greeting, isStart: true } },
      { id: 'one', type: 'End Call', data: { name: 'One', text: 'One.' } },
    ],
    [
      { id: 'e1', source: 'menu', target: 'one', data: { label: 'User pressed 1' } },
      { id: 'e2', source: 'menu', target: 'menu', data: { label: 'No input' } },
    ],
  );
  await api.attach(number);
  const { port } = target.address() as AddressInfo;
  await api.answerWith(number, { pathway_id: pathway, webhook: `https://127.0.0.1:${port}/` });
  await api.applied(number);
});

afterAll(() =>
  releaseAll(
    ...callers.map((caller) => () => caller.close()),
    () => second?.stop(),
    () => edge?.stop(),
    () => haproxy?.stop(),
    ...(controls ?? []).map((control) => () => control.remove()),
    () => database?.end(),
    () => server?.stop(),
    () => target?.closeAllConnections(),
    () => target?.close(),
    () => rmSync(folder, { recursive: true }),
  ),
);

/** A call at the menu. */
async function standing({ sipPort } = edge): Promise<Caller> {
  const caller = await callAndTalk({ sipPort, ca: edgeCa }, number);
  callers.push(caller);
  await caller.media.play([silence, silence, silence, silence, silence]);
  return caller;
}

/** Resolves with the call's id when the greeting is in its transcript. */
async function greeted({ callId }: Caller): Promise<string> {
  const { id } = await api.loggedCall(callId, ({ answered_at }) => answered_at !== null);
  await eventually('the greeting in the transcript', async () => {
    const { transcripts } = await api.detail(id);
    return transcripts.some(({ text }) => text === greeting) || null;
  });
  return id;
}

/** Ends a call by a command. */
async function stop(caller: Caller): Promise<void> {
  const id = await greeted(caller);
  stopped.add(id);
  await api.ok('POST', `/v1/calls/${id}/stop`);
  await caller.phone.expect('BYE');
}

/** Chooses in the menu, and is told goodbye. */
async function finish(caller: Caller): Promise<void> {
  await greeted(caller);
  await caller.media.press('1');
  await caller.phone.expect('BYE');
}

/** The control plane that the edge is linked to, and the other one. */
async function linkedTo(): Promise<[ControlProgram, ControlProgram]> {
  const id = await replicaOfEdge();
  const [first, second] = controls;
  return first.output.includes(`"instance":"${id}"`) ? [first, second] : [second, first];
}

async function replicaOfEdge(of = edge): Promise<string> {
  const { rows } = await database.query<{ replica_id: string }>(
    'select replica_id from edges where replica_id is not null and id = $1',
    [await edgeId(of)],
  );
  return rows[0]?.replica_id ?? '';
}

interface LinkLine {
  readonly time: number;
  readonly msg: string;
  readonly failures?: number;
}

/** What an edge has logged about its connection to control since a time, ms. */
function linkLines(since: number, { program } = edge): LinkLine[] {
  const lines = program.output.split('\n').filter((line) => line.includes('"msg":"control plane '));
  return lines.map((line): LinkLine => JSON.parse(line)).filter(({ time }) => time >= since);
}

/** Requests through HAProxy, one after another, until `stop`. */
class Load {
  /** Names of pathways that were created, by the answers. */
  readonly created: string[] = [];
  readonly failures: string[] = [];
  readonly #prefix: string;
  readonly #ended: Promise<void>;
  #isStopped = false;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  /** Sends each request until it is answered; the failures on the way are counted. */
  async #run(): Promise<void> {
    for (let next = 0; !this.#isStopped; next++) {
      const name = `${this.#prefix} ${next}`;
      await this.#answered('GET', '/v1/pathway');
      await this.#answered('POST', '/v1/pathway/create', { name }, { 'idempotency-key': name });
      this.created.push(name);
      await pause(50);
    }
  }

  async #answered(...request: Parameters<Api['request']>): Promise<void> {
    for (;;) {
      try {
        const { status, text } = await api.request(...request);
        if (status < 300) return;
        this.failures.push(`${request[0]} ${request[1]}: ${status} ${text}`);
      } catch (error) {
        this.failures.push(`${request[0]} ${request[1]}: ${String(error)}`);
      }
      await pause(20);
    }
  }
}

/** Checks the record of each call: once in the log, every line of it, and one webhook. */
async function recordedOnce(calls: readonly Caller[]): Promise<void> {
  for (const { callId } of calls) await api.endedCall(callId);
  const log = await api.calls();
  expect(log.map(({ call_id }) => call_id).sort()).toEqual(calls.map(({ callId }) => callId).sort());
  for (const { id } of log) {
    const { transcripts } = await api.detail(id);
    const lines = transcripts.map(({ text }) => text).filter((text) => text !== interrupted);
    for (let at = lines.indexOf(silent); at !== -1; at = lines.indexOf(silent)) lines.splice(at, 2);
    expect(lines).toEqual(stopped.has(id) ? linesOfStopped : linesOfFinished);
  }
  await eventually('every webhook to be delivered', async () => {
    const { rows } = await database.query('select 1 from webhook_deliveries where delivered_at is null');
    return rows.length === 0 || null;
  });
  const { rows } = await database.query<{ id: string }>('select id from webhook_deliveries');
  expect(rows).toHaveLength(calls.length);
  const calledBack = new Set(received.map((body) => String(JSON.parse(body).call_id)));
  expect([...calledBack].sort()).toEqual(log.map(({ id }) => id).sort());
}

async function createdOnce({ created }: Load, prefix: string): Promise<void> {
  const names = (await api.read(PathwayList, 'GET', '/v1/pathway')).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith(prefix)).sort()).toEqual([...created].sort());
}

test('HAProxy finds its file valid, and shows what docs/replicas.md shows', async () => {
  const [check, reload] = shownCommand('replicas.md', 'haproxy').line.split(' && ');
  expect(reload).toBe('systemctl reload haproxy');
  const said = await runShown(check?.replace('/etc/haproxy/haproxy.cfg', haproxy.configuration) ?? '', {
    haproxy: '/usr/sbin/haproxy',
  });
  // Beside it the test's own file, which has no log, gets a warning.
  expect(said.split('\n')).toEqual(
    expect.arrayContaining([...shownCommand('replicas.md', 'haproxy').output]),
  );

  const { line, output } = shownCommand('replicas.md', 'echo');
  const [, command = '', rest = ''] =
    /^echo "(.*)" \| socat stdio \/run\/haproxy\/admin\.sock \| (.*)$/.exec(line) ?? [];
  // HAProxy marks a check that runs at the moment with a star before its last result.
  const answer = await eventually('no check to run', async () => {
    const text = saw(await haproxy.ask(command));
    return text.includes(',* ') ? null : text;
  });
  const shown = await runShown(`echo "$ANSWER" | ${rest}`.replace('$ANSWER', answer.replaceAll('"', '')), {});
  expect(shown.trim().split('\n')).toEqual(output);
});

test('kill -9 of the control plane with the link loses nothing, and records nothing twice', async () => {
  const before = [await standing(), await standing()];
  const load = new Load('killed');
  const [linked, other] = await linkedTo();
  const former = await replicaOfEdge();
  const killedAt = Date.now();
  await linked.end('SIGKILL');
  const meanwhile = await standing();
  await eventually('the edge to be linked to the other one', async () => {
    const now = await replicaOfEdge();
    return (now !== former && other.output.includes(now)) || null;
  });
  const [loss, ...attempts] = await eventually('the edge to say so', () => {
    const lines = linkLines(killedAt);
    return lines.at(-1)?.msg === 'control plane connected' ? lines : null;
  });
  expect(loss?.msg).toBe('control plane lost');
  // The pauses before four attempts are 3.25 s at most: it was linked within 5 s.
  expect(attempts.filter(({ failures = 0 }) => failures >= 4)).toEqual([]);
  console.log(`the edge was linked again ${Number(attempts.at(-1)?.time) - killedAt} ms after the kill`);
  await eventually('the other one to notice', () => other.output.includes('a replica has died') || null);
  await stop(await standing());
  for (const caller of [...before, meanwhile]) await finish(caller);
  await load.stop();
  await recordedOnce(callers);
  await createdOnce(load, 'killed');
});

test('an orderly stop of the control plane with all links fails no request, and no command', async () => {
  const [linked, free] = await linkedTo();
  if (free.pid !== undefined) await free.end('SIGTERM');
  const { port } = new URL(linked.url);
  second = await FurtherEdge.start({ ...controls[0].forEdges, controlPort: Number(port) }, behindHaproxy);
  await free.start();
  await eventually('both to be ready', async () => (await haproxy.ready()).length === 2 || null);
  const [leaving, staying] = await linkedTo();
  expect(await replicaOfEdge(second)).toBe(await replicaOfEdge());
  const load = new Load('left');
  const held = [await standing(), await standing(second)];
  const stoppedAt = Date.now();
  const ended = leaving.end('SIGTERM');
  await eventually('it not to be ready', async () => {
    const answer = await fetch(`${leaving.url}/health/ready`);
    return answer.status === 503 || null;
  });
  // It serves all the same.
  expect((await leaving.api.request('GET', '/v1/pathway')).headers.connection).toBe('close');
  while (leaving.pid !== undefined) for (const to of [edge, second]) await stop(await standing(to));
  expect(await ended).toBe(0);
  for (const caller of held) await finish(caller);
  await load.stop();
  expect(load.failures).toEqual([]);
  for (const moved of [edge, second]) {
    expect(staying.output).toContain(await replicaOfEdge(moved));
    // It was never without one.
    expect(linkLines(stoppedAt, moved).map(({ msg }) => msg)).toEqual(['control plane connected']);
  }
  await recordedOnce(callers);
  await createdOnce(load, 'left');
});

longTest(
  'an agent test over a call runs from either control plane, whichever the edge is linked to',
  async () => {
    for (const control of controls) if (control.pid === undefined) await control.start();
    await eventually('both to be ready', async () => (await haproxy.ready()).length === 2 || null);
    const [pathway] = (await api.read(PathwayList, 'GET', '/v1/pathway')).filter(
      ({ name }) => name === 'menu',
    );
    for (const control of await linkedTo()) {
      const runs = new AgentTestRuns({ api: new Api(control.url, controls[0].keys.api_key) });
      const scenario = await runs.scenario({
        pathway_id: pathway?.pathway_id,
        name: `from ${control.url}`,
        tester_persona_prompt: 'Press 1.',
        max_turns: 1,
      });
      const { voice } = await runs.voiceOf(scenario, number);
      expect(voice.first_audio_ms).toBeGreaterThan(0);
    }
  },
);

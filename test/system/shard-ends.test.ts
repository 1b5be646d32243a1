/**
 * A fault ends one of two media shards during calls: its calls end and say why, the others go on, and it is replaced. Calls
 * of one organization are on one shard, so there are two of them.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RecordingOne } from '#shared/api/recordings.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import type { Api } from '../kit/programs/api.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { furtherOrganization } from '../kit/programs/further-organization.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { commandLine, descriptors, family } from '../kit/programs/processes.ts';

const fault = new URL('../kit/fakes/fault-in-shard.mjs', import.meta.url).href;
/** Two for each shard. */
const callsAtOnce = 4;
const ofAnother = '+14155550177';

/** A caller, and the API of the organization that it has called. */
interface Talk extends Caller {
  readonly api: Api;
}

let system: TestSystem;
let numbers: readonly (readonly [api: Api, number: string])[];
let callers: Talk[] = [];

beforeAll(async () => {
  system = await TestSystem.start({
    MEDIA_WORKERS: '2',
    METRICS_PUBLIC: 'true',
    NODE_OPTIONS: `--import ${fault}`,
  });
  const another = await furtherOrganization(system);
  await another.attach(ofAnother);
  const ask = { name: 'Ask', text: 'How can I help?', isStart: true };
  const pathway = await another.pathway('desk', [{ id: 'ask', type: 'Default', data: ask }], []);
  await another.answerWith(ofAnother, { pathway_id: pathway });
  numbers = [
    [system.api, system.tone.number],
    [another, ofAnother],
  ];
  for (const [api, number] of numbers) {
    await api.answerWith(number, { recording: { mode: 'audio', announcement: 'none' } });
    await api.applied(number);
  }
});

afterEach(() => releaseAll(...callers.splice(0).map((caller) => () => caller.close())));

afterAll(() => system?.stop());

async function call(api: Api, number: string): Promise<Talk> {
  const caller = { ...(await callAndTalk(system, number)), api };
  callers.push(caller);
  return caller;
}

/** Calls that hear their agents. */
async function talk(): Promise<Talk[]> {
  const made: Talk[] = [];
  for (let i = 0; i < callsAtOnce / 2; i++) {
    for (const [api, number] of numbers) {
      const caller = await call(api, number);
      made.push(caller);
      await caller.media.play(caller.media.toneFrames(700, 5));
      await caller.media.heard(5);
    }
  }
  return made;
}

async function hangUp(made: readonly Talk[]): Promise<void> {
  for (const caller of made) {
    await caller.hangup();
    await caller.close();
  }
  callers = callers.filter((caller) => !made.includes(caller));
}

/** Resolves when nothing of calls is left on the edge. */
async function quiet(): Promise<void> {
  await eventually(
    'all RTP ports to be free',
    async () => saw(await system.busyRtpPorts()).length === 0 || null,
  );
  await eventually('all recordings to be sent', () => saw(recordingFiles()).length === 0 || null);
}

const recordingFiles = () => readdirSync(join(system.folder, 'recordings-waiting'));

/** Media workers, one of each shard. */
const workers = () => family(system.edge.pid).filter((pid) => pid !== system.edge.pid && isWorker(pid));

function isWorker(pid: number): boolean {
  return commandLine(pid).includes('mediasoup-worker');
}

async function endOf({ api, callId }: Talk) {
  const { id } = await api.loggedCall(callId, () => true);
  return { id, entry: await api.endedCall(id) };
}

test('its calls end as media_lost, and nothing of them is left', async () => {
  await hangUp(await talk());
  await quiet();
  const before = descriptors(system.edge.pid);
  const former = workers();
  expect(former).toHaveLength(2);

  const made = await talk();
  writeFileSync(join(system.folder, 'fault in media shard 0'), '');
  const lost = await eventually('the calls of one shard to end', async () => {
    const logs = await Promise.all(numbers.map(([api]) => api.calls()));
    const log = logs.flat();
    const ended = made.filter(({ callId }) =>
      log.some(({ call_id, termination }) => call_id === callId && termination === 'media_lost'),
    );
    return saw(ended).length === callsAtOnce / 2 ? ended : null;
  });
  // All of one organization: the other one was not on this shard.
  expect(new Set(lost.map(({ api }) => api)).size).toBe(1);
  for (const caller of lost) {
    await caller.phone.expect('BYE');
    const { id, entry } = await endOf(caller);
    expect(entry).toMatchObject({
      outcome: 'completed',
      sip_code: 200,
      hangup_by: 'error',
      termination: 'media_lost',
      termination_detail: 'the media shard that carried the call ended',
    });
    expect(await caller.api.detail(id)).toMatchObject({
      call_ended_by: 'ERROR',
      error_message: expect.stringContaining('the media shard that carried the call ended'),
    });
    await eventually('what was recorded of it in control', async () => {
      const answer = await caller.api.request('GET', `/v1/calls/${id}/recording/details`);
      return (answer.status === 200 && answer.read(RecordingOne).data.recording.state === 'ready') || null;
    });
  }

  // Why is for the operator alone.
  expect(system.edge.output).toContain('a fault in a media shard, made by a test');
  const others = made.filter((caller) => !lost.includes(caller));
  for (const { media } of others) await media.heard(media.packets + 10);
  // Also while the shard is being replaced there is room for a call.
  const next = await call(system.api, system.tone.number);
  await next.media.heard(5);
  await hangUp([...others, next]);
  for (const caller of [...others, next])
    expect((await endOf(caller)).entry).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });

  await eventually('another media worker', () => {
    const now = saw(workers());
    return (now.length === 2 && now.some((pid) => !former.includes(pid))) || null;
  });
  await quiet();
  await eventually(
    'no descriptor more than before',
    () => saw(descriptors(system.edge.pid)) <= before || null,
  );
});

test('the next calls are on both shards again, with all their ports', async () => {
  // The edge reports every 10 s.
  await eventually('two shards, and one that ended, in /metrics', async () => {
    const text = saw(await (await fetch(`${system.api.url}/metrics`)).text());
    const has = (name: string, value: number) =>
      new RegExp(`^${name}(?:\\{[^}]*\\})? ${value}$`, 'm').test(text);
    return (
      (has('trunkline_edge_media_shards', 2) && has('trunkline_edge_media_shard_deaths_total', 1)) || null
    );
  });
  await hangUp(await talk());
  await quiet();
});

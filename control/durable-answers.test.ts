/** Nothing is acknowledged, to a client or to an edge, before the sync of the commit ended. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callRecord, EdgeClient, reportFrame } from '../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../test/kit/control/harness.ts';
import { writeEmptyFile } from '../test/kit/db/empty-file.ts';

let folder: string;
let control: TestControl;
/** Set: syncs end with it. */
let held: PromiseWithResolvers<void> | null;
let syncs: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'durable-answers-'));
  held = null;
  syncs = 0;
  const sync = () => {
    syncs += 1;
    return held?.promise ?? Promise.resolve();
  };
  const env = { DATABASE_URL: join(folder, 'control.db') };
  await writeEmptyFile(env.DATABASE_URL);
  control = await startControl(env, {}, {}, { sync });
});
afterEach(async () => {
  await control.close().catch(() => undefined);
  rmSync(folder, { recursive: true });
});

const create = () => control.call('POST', '/v1/pathway/create', { body: { name: 'a' } });
const disk = () => Object.assign(new Error('i/o error'), { code: 'EIO' });

test('an answer to a request that wrote waits for the sync; one to a request that reads does not', async () => {
  held = Promise.withResolvers();
  const before = syncs;
  let answered = false;
  const creating = create().finally(() => {
    answered = true;
  });
  await expect.poll(() => syncs).toBe(before + 1);
  expect((await control.call('GET', '/v1/pathway')).status).toBe(200);
  expect(answered).toBe(false);
  held.resolve();
  expect((await creating).status).toBe(200);
});

test('after a failed sync every write is answered 503, reads work, and /health reports it', async () => {
  held = Promise.withResolvers();
  held.promise.catch(() => undefined);
  held.reject(disk());
  const refused = await create();
  expect(refused.status).toBe(503);
  expect(refused.text).toContain('the disk or its file system is failing');
  held = null;
  expect((await create()).status).toBe(503);
  expect((await control.call('GET', '/v1/pathway')).status).toBe(200);
  expect((await control.call('GET', '/health', { key: null })).status).toBe(503);
});

test('after a failed sync a request that is refused gets its own error, and nothing about files', async () => {
  held = Promise.withResolvers();
  held.promise.catch(() => undefined);
  held.reject(disk());
  expect((await create()).status).toBe(503);
  for (const [key, status, code] of [
    ['tk_wrong', 401, 'AUTH_FAILURE'],
    [control.key, 400, 'INVALID_PARAMETER'],
  ] as const) {
    const answer = await control.call('POST', '/v1/pathway/create', { key, body: {} });
    expect(answer.status).toBe(status);
    expect(answer.body.errors).toMatchObject([{ code }]);
    expect(answer.text).not.toContain('could not be synced');
  }
});

async function edge(): Promise<EdgeClient> {
  const url = `${(await control.url()).replace('http', 'ws')}/v1/edge/link`;
  return EdgeClient.connect(url, control.edgeToken);
}

const report = () => reportFrame(1, [{ type: 'call', call: callRecord(control.orgId) }]);

test('an edge gets its acknowledgement after the sync', async () => {
  const client = await edge();
  await client.next('config');
  held = Promise.withResolvers();
  const before = syncs;
  client.send(report());
  await expect.poll(() => syncs).toBe(before + 1);
  expect(client.untaken.filter(({ type }) => type === 'ack')).toEqual([]);
  held.resolve();
  expect((await client.next('ack')).seq).toBe(1);
  await client.close();
});

test('an edge gets neither an acknowledgement nor a welcome after a failed sync', async () => {
  const client = await edge();
  await client.next('config');
  held = Promise.withResolvers();
  held.promise.catch(() => undefined);
  held.reject(disk());
  client.send(report());
  await client.closed;
  expect(client.untaken.filter(({ type }) => type === 'ack')).toEqual([]);
  const again = await edge();
  await again.closed;
  expect(again.untaken).toEqual([]);
});

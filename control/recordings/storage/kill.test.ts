/** A real control plane, killed while it brings a recording to a storage. Each step is in deaths.test.ts. */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { EdgeRecordingState } from '#shared/api/recordings.ts';
import { systemClock } from '#shared/clock.ts';
import { sealedFor } from '../../../test/kit/control/recording-of-edge.ts';
import { S3Server } from '../../../test/kit/fakes/s3-server.ts';
import { send } from '../../../test/kit/http/answer.ts';
import { ControlProgram } from '../../../test/kit/programs/control-program.ts';
import { openDatabase } from '../../db/open.ts';
import { currentRecordingKey } from '../../recording-keys/index.ts';

const control = new ControlProgram();
const server = new S3Server(() => systemClock.now());
afterEach(async () => {
  await control.remove();
  await server.close();
});

/** Connections end with the program. */
const agent = new Agent();
const call = (method: string, path: string, authorization: string, body?: object | Buffer) => {
  const type = Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json';
  return send(agent, {
    method,
    url: control.url + path,
    headers: { authorization, ...(body && { 'content-type': type }) },
    body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
};

it('a recording is whole after kills between its parts and at its completion, and nothing else is left', async () => {
  await server.start();
  await control.start();
  const { org_id, api_key, operator_key, edge_token } = control.keys;
  const path = '/v1/admin/recording-storage';
  expect((await call('PUT', path, operator_key, server.settings)).status).toBe(200);
  const database = await openDatabase(join(control.folder, 'control.db'));
  const key = await currentRecordingKey(database.db);
  await database.close();
  if (!key) throw new Error('there is no recording key');
  const recording = sealedFor(key, systemClock.now(), 'call-1', { orgId: org_id, more: 30_000 });
  server.renew({ at: 4, when: 'before' });
  const header = recording.header.toString('base64');
  expect((await call('POST', '/v1/edge/recordings', edge_token, { header })).status).toBe(200);
  for (let at = 0; at < recording.bytes.length; at += 1_000_000) {
    const part = recording.bytes.subarray(at, at + 1_000_000);
    await call('PUT', `/v1/edge/recordings/${recording.id}?at=${at}`, edge_token, part);
  }
  const done = await call('POST', `/v1/edge/recordings/${recording.id}/complete`, edge_token);
  expect(done.read(EdgeRecordingState).data.state).toBe('ready');
  await server.hung.promise;
  expect(server.asked.at(-1)).toBe('PUT part 2');
  await control.end('SIGKILL');
  // It goes on with the part that is there: the parts, part 2, the parts, completion.
  server.renew({ at: 4, when: 'after' });
  await control.start();
  await server.hung.promise;
  expect(server.asked).toEqual(['GET upload', 'PUT part 2', 'GET upload', 'POST upload']);
  await control.end('SIGKILL');
  server.renew(null);
  await control.start();
  const waiting = async () => {
    const { text } = await call('GET', '/metrics', operator_key);
    return /^trunkline_control_recording_storage_waiting\{work="move"\} (\d+)$/m.exec(text)?.[1];
  };
  await expect.poll(waiting).toBe('0');
  expect([...server.objects.values()].map((object) => object.equals(recording.bytes))).toEqual([true]);
  expect(server.uploads.size).toBe(0);
  const wav = await call('GET', '/v1/calls/call-1/recording', api_key);
  expect([wav.status, wav.bytes.length]).toEqual([200, 44 + 30_150 * 640]);
}, 300_000);

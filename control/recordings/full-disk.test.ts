/** The disk of control's recordings is full, whatever room the database has: edges keep them, and the operator can see it. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import {
  beginRecording,
  putPart,
  recordingOf,
  sendRecording,
} from '../../test/kit/control/recording-of-edge.ts';

const folder = mkdtempSync(join(tmpdir(), 'recordings-full-'));
let test: TestControl;
beforeAll(async () => {
  test = await startControl({ TRUNKLINE_DATA: folder });
});
afterAll(async () => {
  await test.close();
  rmSync(folder, { recursive: true });
});

const failures = async () => {
  const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
  return Number(/^trunkline_control_storage_failures_total (\d+)$/m.exec(text)?.[1]);
};

it('a part that the disk does not take gets 503, is counted, and is taken when there is room', async () => {
  const recording = await recordingOf(test, 'call', { orgId: test.orgId, more: 30, end: true });
  const { id, bytes } = recording;
  await beginRecording(test, recording);
  // Every write to this device fails with ENOSPC.
  mkdirSync(join(folder, 'recordings'), { recursive: true });
  symlinkSync('/dev/full', join(folder, 'recordings', id));
  const refused = await putPart(test, id, 0, bytes);
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('30');
  expect(await failures()).toBe(1);
  rmSync(join(folder, 'recordings', id));
  await sendRecording(test, recording);
  expect((await test.call('GET', '/v1/calls/call/recording')).status).toBe(200);
  expect(await failures()).toBe(1);
});

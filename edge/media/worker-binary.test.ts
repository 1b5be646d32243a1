import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkWorkerBinary } from './worker-binary.ts';

let folder = '';
let binary = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'worker-'));
  binary = join(folder, 'mediasoup-worker');
  await writeFile(binary, '');
  await chmod(binary, 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

const mark = (content: string) => writeFile(`${binary}.json`, content);

test('a worker with the mark of our patches and the right version is accepted', async () => {
  await mark('{"mediasoup":"3.27.1","patches":"0123456789ab"}');
  await expect(checkWorkerBinary(binary, '3.27.1', false)).resolves.toBeUndefined();
});

test('a worker of another mediasoup version is rejected with both versions', async () => {
  await mark('{"mediasoup":"3.26.0","patches":"0123456789ab"}');
  await expect(checkWorkerBinary(binary, '3.27.1', false)).rejects.toThrow(/3\.26\.0.*3\.27\.1/);
});

test.each(['', 'null', '[]', '{"mediasoup":"3.27.1"}', '{"mediasoup":"3.27.1","patches":""}'])(
  'a mark with content %j is invalid',
  async (content) => {
    await mark(content);
    await expect(checkWorkerBinary(binary, '3.27.1', false)).rejects.toThrow('is not marked as built');
    await expect(checkWorkerBinary(binary, '3.27.1', true)).resolves.toBeUndefined();
  },
);

test('a file that is not executable is rejected, with or without the mark', async () => {
  await chmod(binary, 0o644);
  await expect(checkWorkerBinary(binary, '3.27.1', true)).rejects.toThrow('not executable');
});

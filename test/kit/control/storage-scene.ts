/** A control plane beside a storage of recordings, for the tests of a file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { S3Server } from '../fakes/s3-server.ts';
import { startControl, type TestControl } from './harness.ts';

/** @param started gets the control plane before the first test @returns the storage, which has the same clock */
export function useStorageScene(started: (test: TestControl) => void): S3Server {
  const folder = mkdtempSync(join(tmpdir(), 'recording-storage-'));
  let test: TestControl;
  const server = new S3Server(() => test.clock.now());
  beforeAll(async () => {
    await server.start();
    test = await startControl({ TRUNKLINE_DATA: folder, ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
    started(test);
  });
  afterAll(async () => {
    await test.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  return server;
}

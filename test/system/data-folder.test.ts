/** Files in the data folder of a running system: readable only by the owner, without trunk passwords in clear. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Health } from '#shared/api/deployment.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

let system: TestSystem;
const password = 'a-password-that-nobody-else-has';

beforeAll(async () => {
  system = await TestSystem.start({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
});

afterAll(() => system?.stop());

const files = () =>
  readdirSync(system.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Null: the file is gone, as the outbox deletes its files when they are delivered. */
function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

test('no file contains the trunk password, and no file is readable by others', async () => {
  const { config_version: before } = await edgeOf();
  await system.api.ok('POST', '/v1/sip/attach', {
    phone_number: '+14155550177',
    directions: [
      {
        type: 'outbound',
        sip_endpoint: '127.0.0.1:5999',
        options: { sip_username: 'bob', sip_password: password },
      },
    ],
  });
  await eventually('the edge to have the trunk', async () => {
    const { config_version: version, applied_version: applied } = await edgeOf();
    return (version > before && applied === version) || null;
  });
  for (const file of files())
    expect([file, ifThere(() => readFileSync(file).includes(password))]).not.toEqual([file, true]);
  expect(files().map((file) => file.slice(system.folder.length + 1))).toEqual(
    expect.arrayContaining(['edge-config.json', 'edge-secret.key', 'outbox.lock', 'control.db']),
  );
  expect(statSync(system.folder).mode & 0o777).toBe(0o700);
  for (const file of files())
    expect([file, ifThere(() => statSync(file).mode & 0o077) ?? 0]).toEqual([file, 0]);
});

async function edgeOf() {
  return (await system.api.request('GET', '/health')).read(Health).edge;
}

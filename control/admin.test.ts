import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from './db/open.ts';
import { listOrganizations } from './organizations/store.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'admin-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function admin(...args: string[]): Promise<string> {
  const env = { ...process.env, TRUNKLINE_DATA: folder, NODE_NO_WARNINGS: '1' };
  const file = join(import.meta.dirname, 'admin.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { env });
  return stdout.trim();
}

describe('org create', () => {
  it("takes the owner's address, who is then told of alerts", async () => {
    const id = await admin('org', 'create', 'Acme', '--email', 'owner@example.com');
    await admin('org', 'create', 'Without');
    const database = await openDatabase(join(folder, 'control.db'));
    const organizations = await listOrganizations(database.db);
    await database.close();
    expect(organizations.map(({ name, alert_emails }) => [name, alert_emails])).toEqual([
      ['Acme', '["owner@example.com"]'],
      ['Without', '[]'],
    ]);
    expect(organizations[0]?.id).toBe(id);
  });

  it('refuses what is no address', async () => {
    await expect(admin('org', 'create', 'Acme', '--email', 'owner')).rejects.toMatchObject({
      stderr: '"owner" is not a mail address.\n',
    });
  });
});

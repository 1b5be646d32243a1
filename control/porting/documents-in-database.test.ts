/** Files of documents in the database, where several control planes use it. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PortTest, smallPdf, startPortTest } from '../../test/kit/control/porting.ts';
import { SecretBox } from '../db/secrets.ts';
import { DocumentFiles } from './documents.ts';

let test: PortTest;
beforeEach(async () => {
  test = await startPortTest();
});
afterEach(() => test.close());

const folderOf = () => join(test.folder, 'port-documents');
const inFolder = () => (existsSync(folderOf()) ? readdirSync(folderOf()) : []);
const inDatabase = async () => {
  const { db } = test.control.services.database;
  const rows = await db.selectFrom('port_document_parts').select('file_name').distinct().execute();
  return rows.map(({ file_name }) => file_name);
};
const filesOf = (isInDatabase: boolean, secrets = test.control.services.secrets) =>
  new DocumentFiles({ db: test.control.services.database.db, folder: folderOf(), isInDatabase, secrets });

describe('in the database', () => {
  it('a document of the largest size is unreadable, and bound to its id', async () => {
    const { db } = test.control.services.database;
    const own = filesOf(true);
    const bytes = Buffer.alloc(10_485_760, smallPdf);
    let name = '';
    await own.write('doc_1', bytes, async (fileName, content) => {
      name = fileName;
      await db.transaction().execute(content);
    });
    expect(inFolder()).toEqual([]);
    expect((await own.read('doc_1', name)).equals(bytes)).toBe(true);
    await expect(own.read('doc_2', name)).rejects.toThrow();
    await expect(filesOf(true, new SecretBox('22'.repeat(32))).read('doc_1', name)).rejects.toThrow();
    const parts = await db.selectFrom('port_document_parts').select('bytes').execute();
    expect(parts.some((part) => part.bytes.includes(smallPdf.subarray(0, 12)))).toBe(false);
    // Copies and pages of tables hold several hundred rows in memory.
    expect(Math.max(...parts.map((part) => part.bytes.length))).toBe(65_536);
    await own.delete(name);
    expect(await inDatabase()).toEqual([]);
    await expect(own.read('doc_1', name)).rejects.toThrow('missing');
  });

  it('are those of the folder after the next start, and readable on either side of a move', async () => {
    const [folder, database] = [filesOf(false), filesOf(true)];
    const names: string[] = [];
    for (const id of ['doc_1', 'doc_2'])
      await folder.write(id, smallPdf, async (name) => void names.push(name));
    const [first = '', second = ''] = names;
    expect(await database.read('doc_1', first)).toEqual(smallPdf);
    expect(await folder.moveIn(async () => true)).toBe(0);
    // One without a row is not a document.
    expect(await database.moveIn(async (name) => name === first)).toBe(1);
    expect([inFolder(), await inDatabase()]).toEqual([[second], [first]]);
    expect(await folder.read('doc_1', first)).toEqual(smallPdf);
  });
});

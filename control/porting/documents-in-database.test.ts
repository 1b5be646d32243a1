/** Files of documents in the database, where several control planes use it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentsOf, type PortTest, smallPdf, startPortTest } from '../../test/kit/control/porting.ts';
import { SecretBox } from '../db/secrets.ts';

let test: PortTest;
beforeEach(async () => {
  test = await startPortTest();
});
afterEach(() => test.close());

const inFolder = () => documentsOf(test).inFolder();
const inDatabase = () => documentsOf(test).inDatabase();
const filesOf = (isInDatabase: boolean, secrets?: SecretBox) =>
  documentsOf(test).files(isInDatabase, secrets);

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

/** Uploads whose sender leaves before they are whole. */
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  multipartBody,
  multipartType,
  type PortTest,
  smallPdf,
  startPortTest,
  upload,
} from '../../test/kit/control/porting.ts';
import { onSqlite } from '../../test/kit/db/test-database.ts';

let test: PortTest;
beforeEach(async () => {
  test = await startPortTest();
});
afterEach(() => test.close());

/** Where the files are: on PostgreSQL in the database. */
async function files(): Promise<string[]> {
  const folder = join(test.folder, 'port-documents');
  if (onSqlite) return existsSync(folder) ? readdirSync(folder) : [];
  const { db } = test.control.services.database;
  const rows = await db.selectFrom('port_document_parts').select('file_name').distinct().execute();
  return rows.map(({ file_name }) => file_name);
}

/** Sends the beginning of an upload and leaves, several times. */
async function leave(): Promise<void> {
  const port = Number(new URL(await test.url()).port);
  for (let time = 0; time < 10; time++) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const head = `POST /v1/sip/port/document HTTP/1.1\r\nhost: x\r\nauthorization: ${test.key}\r\ncontent-type: ${multipartType}\r\ncontent-length: 100000\r\n\r\n`;
    socket.write(head + multipartBody([{ name: 'file', fileName: 'a', content: smallPdf }]).subarray(0, 120));
    socket.destroySoon();
    await once(socket, 'close');
  }
}

/** The service notices each that left a moment after its sender does. */
const hasPlace = () => expect.poll(async () => (await upload(test, smallPdf)).status).toBe(200);

it('an upload leaves nothing when its sender disconnects, and frees its place', async () => {
  await leave();
  await hasPlace();
  expect(await files()).toHaveLength(1);
});

it.runIf(onSqlite)(
  'an upload leaves nothing when its sender has gone before it is read, either',
  async () => {
    const { app, services } = test.control;
    const senders = () => promisify(app.server.getConnections.bind(app.server))();
    const gone = Promise.withResolvers<void>();
    // Its key is looked up before it is read, which waits for the database.
    const busy = services.database.db.transaction().execute(() => gone.promise);
    await leave();
    await expect.poll(() => senders()).toBe(0);
    gone.resolve();
    await busy;
    await hasPlace();
    expect(await files()).toHaveLength(1);
  },
);

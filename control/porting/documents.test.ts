import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  documentsOf,
  initiate,
  multipartBody,
  multipartType,
  order,
  type Part,
  type PortTest,
  portTestOfFile,
  smallPdf,
  startPortTest,
  upload,
} from '../../test/kit/control/porting.ts';
import { onceIsEnough, onSqlite } from '../../test/kit/db/test-database.ts';
import { SecretBox } from '../db/secrets.ts';

const dayMs = 24 * 60 * 60 * 1000;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
  Buffer.from('JFIF\0'),
  Buffer.alloc(64),
]);
const webp = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from([26, 0, 0, 0]),
  Buffer.from('WEBPVP8L'),
  Buffer.alloc(18),
]);

const shared = portTestOfFile();
/** The shared one, or a test's own with other settings. */
let test: PortTest;
beforeEach(() => {
  test = shared;
});
afterEach(async () => {
  if (test === shared) return;
  await test.close();
  expect(test.clock.pending).toBe(0);
});

const folderOf = () => documentsOf(test).folder;
const inFolder = () => documentsOf(test).inFolder();
/** Where the files are: on PostgreSQL, where other control planes need them, in the database. */
const files = async () => (onSqlite ? inFolder() : documentsOf(test).inDatabase());
const filesOf = (secrets?: SecretBox) => documentsOf(test).files(false, secrets);
const post = (body: Buffer | string, type = multipartType) =>
  test.call('POST', '/v1/sip/port/document', { body, headers: { 'content-type': type } });
const parts = (...all: Part[]) => post(multipartBody(all));
const mediaTypes = async () => {
  const rows = await test.control.services.database.db.selectFrom('port_documents').selectAll().execute();
  return rows.map(({ media_type }) => media_type);
};

describe('an upload', () => {
  it.each([
    ['application/pdf', smallPdf],
    ['image/png', png],
    ['image/png', Buffer.concat([png.subarray(0, 8), Buffer.alloc(40)])],
    ['image/gif', gif],
    ['image/jpeg', jpeg],
    ['image/webp', webp],
  ])('of %s is accepted, whatever its name and its declared type', async (type, content) => {
    const answer = await upload(test, content, { fileName: '../../evil.exe' });
    expect(answer.body).toEqual({
      data: { document_sid: expect.stringMatching(/^doc_[0-9a-f-]{36}$/) },
      errors: null,
    });
    expect(await mediaTypes()).toEqual([type]);
  });

  it.each([
    ['text named like a PDF', 'just text'],
    ['a program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(200)])],
    [
      'a zip archive followed by a PDF',
      Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(30), smallPdf]),
    ],
    ['a page with a PDF in it', `<html><script>alert(1)</script>${smallPdf}`],
    [
      'a drawing with scripts',
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
    ],
  ])('of %s is rejected', async (_what, content) => {
    const answer = await upload(test, content, { fileName: 'bill.pdf' });
    expect([answer.status, answer.codes]).toEqual([415, ['UNSUPPORTED_FILE_TYPE']]);
    expect(await files()).toEqual([]);
  });

  it('of an image that is also a script is kept as the image, and never displayed from our domain', async () => {
    const polyglot = Buffer.concat([gif, Buffer.from('<script>alert(1)</script>')]);
    const document = String((await upload(test, polyglot, { fileName: 'x.html' })).body.data?.document_sid);
    const { id } = await initiate(test, order(['+14155550100'], { documents: [document] }));
    const file = await test.call('GET', `/v1/admin/ports/${id}/documents/${document}`, {
      key: test.operatorKey,
    });
    expect(file.headers).toMatchObject({
      'content-type': 'image/gif',
      'content-disposition': `attachment; filename="${document}.gif"`,
      'x-content-type-options': 'nosniff',
    });
    expect(file.bytes).toEqual(polyglot);
  });

  // In a PostgreSQL database: documents-in-database.test.ts.
  it.runIf(onceIsEnough)('of 10 MiB is accepted, one byte more is rejected', async () => {
    const largest = Buffer.concat([smallPdf, Buffer.alloc(10_485_760 - smallPdf.length)]);
    expect((await upload(test, largest)).status).toBe(200);
    const answer = await upload(test, Buffer.concat([largest, Buffer.from('x')]));
    expect([answer.status, answer.codes]).toEqual([413, ['FILE_TOO_LARGE']]);
    const body = await upload(test, Buffer.alloc(11 * 1_048_576));
    expect([body.status, body.codes]).toEqual([413, ['PAYLOAD_TOO_LARGE']]);
    expect(await files()).toHaveLength(1);
  });

  it('must have exactly one part, a file that is not empty', async () => {
    const file = { name: 'file', fileName: 'a.pdf', content: smallPdf };
    expect((await parts(file, { name: 'note', content: 'x' })).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect((await parts({ name: 'a/b', content: 'x' }, file)).body.errors).toMatchObject([
      { code: 'UNKNOWN_PROPERTY', details: { path: '/a~1b' } },
    ]);
    expect((await parts({ ...file, name: 'other' })).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect((await parts(file, file)).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect((await parts({ ...file, content: '' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await parts({ name: 'file', content: 'x' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await parts()).codes).toEqual(['INVALID_PARAMETER']);
    expect((await test.call('POST', '/v1/sip/port/document')).codes).toEqual(['INVALID_PARAMETER']);
    expect(await files()).toEqual([]);
  });

  it('that is not a complete multipart body is rejected', async () => {
    const whole = multipartBody([{ name: 'file', fileName: 'a.pdf', content: smallPdf }]);
    for (const end of [1, 20, 60, whole.length - 60, whole.length - 10])
      expect((await post(whole.subarray(0, end))).codes).toEqual(['INVALID_PARAMETER']);
    expect((await post(whole, 'multipart/form-data')).codes).toEqual(['INVALID_PARAMETER']);
    for (const type of ['application/json', 'application/pdf', 'multipart/mixed; boundary=x'])
      expect((await post('{}', type)).body.errors).toMatchObject([
        { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'The body must be multipart/form-data.' },
      ]);
    expect(await files()).toEqual([]);
  });

  it('that is too large gets its HTTP response', async () => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(10_485_761)]), 'a.pdf');
    const answer = await fetch(`${await test.url()}/v1/sip/port/document`, {
      method: 'POST',
      headers: { authorization: test.key },
      body: form,
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      413,
      { errors: [{ code: 'FILE_TOO_LARGE' }] },
    ]);
  });

  it('with an Idempotency-Key is stored once, and another file under the same key is a conflict', async () => {
    const headers = { 'idempotency-key': 'k' };
    const first = await upload(test, smallPdf, { headers });
    expect((await upload(test, smallPdf, { headers })).body).toEqual(first.body);
    expect((await upload(test, png, { headers })).codes).toEqual(['IDEMPOTENCY_CONFLICT']);
    expect(await files()).toHaveLength(1);
  });
});

describe('on disk', () => {
  it.runIf(onSqlite)('a document is unreadable, private, and bound to its id', async () => {
    const id = String((await upload(test, smallPdf)).body.data?.document_sid);
    const [name = ''] = inFolder();
    const path = join(folderOf(), name);
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(folderOf()).mode & 0o777).toBe(0o700);
    expect(readFileSync(path).includes('PDF')).toBe(false);
    const own = filesOf();
    expect(await own.read(id, name)).toEqual(smallPdf);
    await expect(own.read('doc_other', name)).rejects.toThrow();
    await expect(filesOf(new SecretBox('22'.repeat(32))).read(id, name)).rejects.toThrow();
    const bytes = readFileSync(path);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await expect(own.read(id, name)).rejects.toThrow();
    writeFileSync(path, 'short');
    await expect(own.read(id, name)).rejects.toThrow('unknown form');
    const { hash } = await test.control.services.database.db
      .selectFrom('port_documents')
      .select('hash')
      .executeTakeFirstOrThrow();
    expect(hash).toBe(createHash('sha256').update(smallPdf).digest('hex'));
  });

  it('no partial file survives: with a row it is completed, without one it is deleted', async () => {
    const own = filesOf();
    let known = '';
    await own.write('doc_1', smallPdf, async (name) => {
      known = name;
    });
    const whole = readFileSync(join(folderOf(), known));
    writeFileSync(join(folderOf(), 'aa.part'), whole);
    writeFileSync(join(folderOf(), 'bb.part'), whole.subarray(0, 10));
    expect(await own.recover(async (name) => name === 'aa')).toBe(2);
    expect(inFolder().sort()).toEqual([known, 'aa'].sort());
    expect(await own.recover(async () => false)).toBe(0);
  });

  it('a failure to store the row deletes the file', async () => {
    const own = filesOf();
    const failing = own.write('doc_1', smallPdf, async () => {
      throw new Error('disk full');
    });
    await expect(failing).rejects.toThrow('disk full');
    expect(inFolder()).toEqual([]);
  });
});

describe('a document without a request', () => {
  it('is deleted after 90 days; a referenced one stays', async () => {
    const unused = String((await upload(test, smallPdf)).body.data?.document_sid);
    const used = String((await upload(test, png)).body.data?.document_sid);
    const { id } = await initiate(test, order(['+14155550100'], { documents: [used] }));
    const { db } = test.control.services.database;
    const left = async () =>
      (await db.selectFrom('port_documents').select('id').execute()).map((row) => row.id);
    test.clock.advance(90 * dayMs - 1);
    expect((await left()).sort()).toEqual([unused, used].sort());
    const leftAfterTheMoment = () => {
      test.clock.advance(1);
      return left();
    };
    await expect.poll(leftAfterTheMoment).toEqual([used]);
    await expect.poll(files).toHaveLength(1);
    const late = order(['+14155550101'], { documents: [unused], target_port_date: '2031-01-01' });
    expect((await test.call('POST', '/v1/sip/port/initiate', { body: late })).codes).toEqual([
      'DOCUMENT_NOT_FOUND',
    ]);
    const path = `/v1/admin/ports/${id}/documents/${used}`;
    expect((await test.call('GET', path, { key: test.operatorKey })).bytes).toEqual(png);
  });

  it('counts toward a limit', async () => {
    test = await startPortTest({}, {}, { porting: { unusedDocuments: 1 } });
    const document = (await upload(test, smallPdf)).body.data?.document_sid;
    const refused = await upload(test, smallPdf);
    expect([refused.status, refused.codes]).toEqual([429, ['RATE_LIMITED']]);
    expect(refused.body.errors).toMatchObject([{ details: { limit: 1, scope: 'unused_documents' } }]);
    expect((await upload(test, smallPdf, { key: test.foreignKey })).status).toBe(200);
    await initiate(test, order(['+14155550100'], { documents: [document] }));
    expect((await upload(test, smallPdf)).status).toBe(200);
  });
});

describe('the virus scan', () => {
  let clamd: Server;
  const received: Buffer[] = [];

  /** Speaks INSTREAM like clamd, and reports data that contains the word EICAR. */
  function answer(socket: Socket): void {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (part: Buffer) => {
      bytes = Buffer.concat([bytes, part]);
      const start = 'zINSTREAM\0'.length;
      let at = start;
      const chunks: Buffer[] = [];
      while (bytes.length >= at + 4) {
        const length = bytes.readUInt32BE(at);
        if (length === 0) {
          const content = Buffer.concat(chunks);
          received.push(content);
          socket.end(content.includes('EICAR') ? 'stream: Eicar-Test-Signature FOUND\0' : 'stream: OK\0');
          return;
        }
        chunks.push(bytes.subarray(at + 4, at + 4 + length));
        at += 4 + length;
      }
    });
  }

  beforeEach(async () => {
    received.length = 0;
    clamd = createServer(answer);
    clamd.listen(0, '127.0.0.1');
    await once(clamd, 'listening');
  });
  afterEach(async () => {
    if (clamd.listening) await once(clamd.close(), 'close');
  });
  const atClamd = () => `tcp://127.0.0.1:${(clamd.address() as AddressInfo).port}`;

  it('by clamd gets the whole file, and rejects infected ones', async () => {
    test = await startPortTest({ PORTING_VIRUS_SCAN: atClamd() });
    const large = Buffer.concat([smallPdf, Buffer.alloc(300_000, 'x')]);
    expect((await upload(test, large)).status).toBe(200);
    expect(received[0]?.equals(large)).toBe(true);
    const refused = await upload(test, Buffer.concat([smallPdf, Buffer.from('EICAR')]));
    expect([refused.status, refused.codes]).toEqual([415, ['UNSUPPORTED_FILE_TYPE']]);
    expect(refused.body.errors).toMatchObject([{ details: { virus: 'Eicar-Test-Signature' } }]);
    expect(await files()).toHaveLength(1);
  });

  it('lets nothing through when it is unavailable', async () => {
    const address = atClamd();
    await once(clamd.close(), 'close');
    test = await startPortTest({ PORTING_VIRUS_SCAN: address });
    const refused = await upload(test, smallPdf);
    expect([refused.status, refused.codes, refused.headers['retry-after']]).toEqual([
      503,
      ['SERVICE_UNAVAILABLE'],
      '60',
    ]);
    expect(await files()).toEqual([]);
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.text).toContain('trunkline_control_port_documents_total{outcome="unscanned"} 1');
  });

  it('times out without an answer', async () => {
    clamd.removeAllListeners('connection');
    const came = once(clamd, 'connection');
    test = await startPortTest({ PORTING_VIRUS_SCAN: atClamd() });
    const answering = upload(test, smallPdf);
    const [socket] = (await came) as [Socket];
    socket.on('error', () => undefined);
    test.clock.advance(30_000);
    expect((await answering).codes).toEqual(['SERVICE_UNAVAILABLE']);
    socket.destroy();
  });

  it.each([
    ['cat > /dev/null', 200],
    ['exit 0', 200],
    ['cat > /dev/null; echo Eicar; exit 1', 415],
    ['exit 2', 503],
  ])('by a program that does "%s" makes it %i', async (script, status) => {
    const folder = mkdtempSync(join(tmpdir(), 'scan-'));
    const program = join(folder, 'scan');
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    test = await startPortTest({ PORTING_VIRUS_SCAN: program });
    expect((await upload(test, smallPdf)).status).toBe(status);
    rmSync(folder, { recursive: true });
  });
});

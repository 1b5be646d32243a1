/** Fixtures of porting tests: a control plane with its own folder, a valid request, uploads, PDF text. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { type PortDetail, PortInitiated, PortOne } from '#shared/api/porting.ts';
import type { SecretBox } from '../../../control/db/secrets.ts';
import type { ControlLimits } from '../../../control/limits.ts';
import { DocumentFiles } from '../../../control/porting/documents.ts';
import type { Answer } from '../http/answer.ts';
import { startControl, type TestControl } from './harness.ts';
import { emptiedForEach } from './routes-of-file.ts';

export interface PortTest extends TestControl {
  readonly folder: string;
}

/** The clock is at 2030-01-01, a Tuesday and a holiday. */
export async function startPortTest(
  env: Readonly<Record<string, string>> = {},
  webhooks: Parameters<typeof startControl>[1] = {},
  limits: ControlLimits = {},
): Promise<PortTest> {
  const folder = mkdtempSync(join(tmpdir(), 'porting-'));
  const test = await startControl(
    {
      TRUNKLINE_DATA: folder,
      CONTROL_URL: 'https://voice.example.com',
      RATE_LIMIT_PER_MINUTE: '100000',
      ...env,
    },
    webhooks,
    {},
    { limits },
  );
  return {
    ...test,
    folder,
    close: async () => {
      await test.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As `startPortTest`, for all tests of a file or a `describe` (routes-of-file.ts). At its end no timer is left. */
export function portTestOfFile(start: () => Promise<PortTest> = startPortTest): PortTest {
  afterAll(() => expect(test.clock.pending).toBe(0));
  const test = emptiedForEach(start);
  afterEach(() => {
    const { folder, inFolder } = documentsOf(test);
    for (const name of inFolder()) rmSync(join(folder, name));
  });
  return test;
}

/** Where the files of a test's documents are. */
export function documentsOf({ control: { services }, folder: dataDir }: PortTest) {
  const { db } = services.database;
  const folder = join(dataDir, 'port-documents');
  return {
    folder,
    inFolder: () => (existsSync(folder) ? readdirSync(folder) : []),
    inDatabase: async () => {
      const rows = await db.selectFrom('port_document_parts').select('file_name').distinct().execute();
      return rows.map(({ file_name }) => file_name);
    },
    files: (isInDatabase: boolean, secrets: SecretBox = services.secrets) =>
      new DocumentFiles({ db, folder, isInDatabase, secrets }),
  };
}

export const address = { street: '1 Main St', city: 'San Francisco', state: 'CA', zip: '94105' };

export const information = {
  customer_type: 'business',
  business_name: 'Acme Inc.',
  first_name: 'Ada',
  last_name: 'Lovelace',
  authorized_representative_email: 'ada@example.com',
  account_number: 'AC-1',
  notification_emails: ['ops@example.com', 'boss@example.com'],
  address,
};

export function order(numbers: readonly string[], more: object = {}): object {
  return { phone_numbers: numbers, losing_carrier_information: information, ...more };
}

export interface Initiated {
  readonly id: string;
  readonly url: string;
  /** Path of the signature page. */
  readonly path: string;
}

/** Places an accepted request. @throws Error when it was rejected */
export async function initiate(test: TestControl, body: object, key = test.key): Promise<Initiated> {
  const answer = await test.call('POST', '/v1/sip/port/initiate', { body, key });
  const { port_request_id: id, signature_url: url } = answer.read(PortInitiated).data;
  return { id, url, path: new URL(url).pathname };
}

export function sign(test: TestControl, path: string, body: object = {}): Promise<Answer> {
  const payload = { name: 'Ada Lovelace', consent: true, ...body };
  return test.call('POST', path, { key: null, body: payload, headers: { 'user-agent': 'a browser' } });
}

export function move(test: TestControl, id: string, body: object): Promise<Answer> {
  return test.call('POST', `/v1/admin/ports/${id}/status`, { key: test.operatorKey, body });
}

export async function detail(test: TestControl, id: string): Promise<PortDetail> {
  return (await test.call('GET', `/v1/sip/port/${id}`)).read(PortOne).data.port_request;
}

export interface Part {
  readonly name: string;
  /** undefined: a plain field. */
  readonly fileName?: string;
  readonly type?: string;
  readonly content: Buffer | string;
}

const boundary = 'x-boundary';
export const multipartType = `multipart/form-data; boundary=${boundary}`;

/** RFC 7578. */
export function multipartBody(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ name, fileName, type, content }) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`,
    fileName === undefined ? '' : `; filename="${fileName}"`,
    type === undefined ? '' : `\r\ncontent-type: ${type}`,
    '\r\n\r\n',
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
}

export function upload(
  test: TestControl,
  content: Buffer | string,
  options: {
    readonly fileName?: string;
    readonly headers?: Record<string, string>;
    readonly key?: string;
  } = {},
): Promise<Answer> {
  const { fileName = 'bill.pdf', headers, key = test.key } = options;
  return test.call('POST', '/v1/sip/port/document', {
    key,
    body: multipartBody([{ name: 'file', fileName, type: 'application/octet-stream', content }]),
    headers: { 'content-type': multipartType, ...headers },
  });
}

export const smallPdf = Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n');

/** The text of a PDF, extracted by poppler's `pdftotext`. */
export function pdfText(folder: string, bytes: Uint8Array): string {
  const file = join(folder, 'read.pdf');
  writeFileSync(file, bytes);
  return execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' });
}

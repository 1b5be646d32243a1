/** kill -9 of the real program: acknowledged data stays, unacknowledged data leaves nothing. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../test/kit/control/alerts.ts';
import { order, smallPdf } from '../../test/kit/control/porting.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import type { Json } from '../../test/kit/http/answer.ts';
import { ControlProgram } from '../../test/kit/programs/control-program.ts';
import { freeTcpPort } from '../../test/kit/programs/ports.ts';

let mailPort = 0;
let mail: MailServer | undefined;
let control: ControlProgram;

beforeEach(async () => {
  mailPort = await freeTcpPort();
  control = new ControlProgram({
    SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
    MAIL_FROM: 'ports@example.net',
  });
});
afterEach(() =>
  releaseAll(
    () => control.remove(),
    () => mail?.close(),
  ),
);

function call(
  method: string,
  path: string,
  init: RequestInit = {},
  key = control.keys.api_key,
): Promise<Response> {
  return fetch(`${control.url}${path}`, {
    method,
    ...init,
    headers: { authorization: key, ...init.headers },
  });
}

function upload(): Promise<Response> {
  const form = new FormData();
  form.set('file', new Blob([smallPdf]), 'bill.pdf');
  return call('POST', '/v1/sip/port/document', { body: form });
}

it('keeps documents, requests and their mails; an unanswered upload is gone', async () => {
  await control.start({ SIP_ENTITLEMENT_DEFAULT: 'true' });
  const stored = (await (await upload()).json()) as Json;
  const document = String(stored.data?.document_sid);
  const body = JSON.stringify(
    order(['+14155550177'], { documents: [document], target_port_date: '2100-01-01' }),
  );
  const headers = { 'content-type': 'application/json' };
  const initiated = (await (await call('POST', '/v1/sip/port/initiate', { body, headers })).json()) as Json;
  const id = String(initiated.data?.port_request_id);
  await control.end('SIGKILL');

  const scanner = join(control.folder, 'scan');
  const scanning = join(control.folder, 'scanning');
  writeFileSync(
    scanner,
    `#!/bin/sh\necho $$ > ${scanning}.new\nmv ${scanning}.new ${scanning}\nexec sleep 60\n`,
    {
      mode: 0o700,
    },
  );
  await control.start({ PORTING_VIRUS_SCAN: scanner });
  const lost = upload().then(
    () => 'answered',
    () => 'broken off',
  );
  await expect.poll(() => existsSync(scanning)).toBe(true);
  await control.end('SIGKILL');
  expect(await lost).toBe('broken off');
  process.kill(Number(readFileSync(scanning, 'utf8')));
  writeFileSync(join(control.folder, 'port-documents', `${'0'.repeat(32)}.part`), 'half');

  mail = await startMailServer({ hideSTARTTLS: true, authOptional: true }, mailPort);
  // Its pauses grow with each attempt, of which the programs before have made some.
  const database = new SqliteFile(join(control.folder, 'control.db'));
  database.prepare('UPDATE port_mails SET next_attempt_at = ?').run(new Date().toISOString());
  database.close();
  await control.start();
  expect(readdirSync(join(control.folder, 'port-documents'))).toHaveLength(1);
  const file = await call(
    'GET',
    `/v1/admin/ports/${id}/documents/${document}`,
    {},
    control.keys.operator_key,
  );
  expect(Buffer.from(await file.arrayBuffer())).toEqual(smallPdf);
  await expect.poll(() => mail?.received.length).toBe(1);
  expect(mail.received[0]?.text).toContain(String(initiated.data?.signature_url));
});

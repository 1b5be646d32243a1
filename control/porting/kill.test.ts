/** kill -9 of the real program: what was answered stays, what was not leaves nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../alerts/testing.ts';
import type { Json } from '../testing/harness.ts';
import { order, smallPdf } from './testing.ts';

let folder = '';
let port = 0;
let mailPort = 0;
let mail: MailServer | undefined;
let program: ChildProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'porting-kill-'));
  const [one, two] = [createServer(), createServer()];
  for (const server of [one, two]) await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (one.address() as AddressInfo).port;
  mailPort = (two.address() as AddressInfo).port;
  for (const server of [one, two]) await once(server.close(), 'close');
});
afterEach(async () => {
  await end('SIGTERM');
  await mail?.close();
  rmSync(folder, { recursive: true });
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'main.ts')], {
    env: {
      ...process.env,
      TRUNKLINE_DATA: folder,
      CONTROL_PORT: String(port),
      NODE_NO_WARNINGS: '1',
      SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
      MAIL_FROM: 'ports@example.net',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  program = child;
  child.stdout.setEncoding('utf8');
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (text: string) => {
      if (text.includes('control plane is listening')) resolve();
    });
  });
}

async function end(signal: NodeJS.Signals): Promise<void> {
  const child = program;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

const keys = (): { api_key: string; operator_key: string } =>
  JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8'));

function call(method: string, path: string, init: RequestInit = {}, key = keys().api_key): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
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

it('keeps documents, requests and their mails; an upload that was not answered is gone', async () => {
  await start({ SIP_ENTITLEMENT_DEFAULT: 'true' });
  const stored = (await (await upload()).json()) as Json;
  const document = String(stored.data?.document_sid);
  const body = JSON.stringify(
    order(['+14155550177'], { documents: [document], target_port_date: '2100-01-01' }),
  );
  const headers = { 'content-type': 'application/json' };
  const initiated = (await (await call('POST', '/v1/sip/port/initiate', { body, headers })).json()) as Json;
  const id = String(initiated.data?.port_request_id);
  await end('SIGKILL');

  const scanner = join(folder, 'scan');
  const scanning = join(folder, 'scanning');
  writeFileSync(
    scanner,
    `#!/bin/sh\necho $$ > ${scanning}.new\nmv ${scanning}.new ${scanning}\nexec sleep 60\n`,
    {
      mode: 0o700,
    },
  );
  await start({ PORTING_VIRUS_SCAN: scanner });
  const lost = upload().then(
    () => 'answered',
    () => 'broken off',
  );
  await expect.poll(() => existsSync(scanning), { timeout: 10_000 }).toBe(true);
  await end('SIGKILL');
  expect(await lost).toBe('broken off');
  process.kill(Number(readFileSync(scanning, 'utf8')));
  writeFileSync(join(folder, 'port-documents', `${'0'.repeat(32)}.part`), 'half');

  mail = await startMailServer({ hideSTARTTLS: true, authOptional: true }, mailPort);
  await start();
  expect(readdirSync(join(folder, 'port-documents'))).toHaveLength(1);
  const file = await call('GET', `/v1/admin/ports/${id}/documents/${document}`, {}, keys().operator_key);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(smallPdf);
  await expect.poll(() => mail?.received.length, { timeout: 30_000 }).toBe(1);
  expect(mail.received[0]?.text).toContain(String(initiated.data?.signature_url));
}, 60_000);

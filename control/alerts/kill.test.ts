import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { number, startMailServer } from '../../test/kit/control/alerts.ts';
import { callRecord, EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { createAuthority } from '../../test/kit/fakes/certificates.ts';
import { ControlProgram } from '../../test/kit/programs/control-program.ts';

const authority = createAuthority();
const portOf = (server: Server) => (server.address() as AddressInfo).port;

let mailPort = 0;
let control: ControlProgram;
/** Accepts connections and sends nothing, until it is closed. */
let silent: Server;
let heldMails = 0;
const sockets = new Set<Socket>();
/** Holds webhooks until it is opened; then answers. */
let isOpen = false;
let heldHooks = 0;
const answered: string[] = [];
const hooks = createHttps(authority.issue({ names: ['IP:127.0.0.1'] }), (request, response) => {
  request.resume();
  if (!isOpen) {
    heldHooks++;
    return;
  }
  answered.push(`${request.headers['x-webhook-event']} ${request.headers['x-webhook-id']}`);
  response.end();
});

beforeEach(async () => {
  control = new ControlProgram({}, { limits: { alerts: { evaluationMs: 1_000 } } });
  writeFileSync(join(control.folder, 'ca.pem'), authority.cert);
  silent = createServer((socket) => {
    heldMails++;
    sockets.add(socket.on('error', () => undefined).resume());
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  await once(hooks.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  await control.remove();
  for (const socket of sockets) socket.destroy();
  silent.close();
  hooks.closeAllConnections();
  await once(hooks.close(), 'close');
});

const start = () =>
  control.start({
    NODE_EXTRA_CA_CERTS: join(control.folder, 'ca.pem'),
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
    MAIL_FROM: 'alerts@trunkline.example',
  });

async function call(
  method: string,
  path: string,
  body?: object,
  key = control.keys.api_key,
): Promise<string> {
  const answer = await fetch(`${control.url}${path}`, {
    method,
    headers: { authorization: key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.text();
}

/** Rounds of evaluation since the start. */
async function rounds(): Promise<number> {
  const metrics = await call('GET', '/metrics', undefined, control.keys.operator_key);
  return Number(/^trunkline_control_alert_evaluation_seconds_count (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

async function failCalls(): Promise<void> {
  await call('PATCH', '/v1/org/settings', { alert_emails: ['ops@example.com', 'night@example.org'] });
  await call('POST', '/v1/sip/attach', {
    phone_number: number,
    directions: [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }],
  });
  const webhook = `https://127.0.0.1:${portOf(hooks)}/`;
  const patched: { data: { id: string } } = JSON.parse(
    await call('PATCH', '/v1/sip/config', {
      phone_number: number,
      direction: 'outbound',
      alert_config: { enabled: true, channels: { email: true, webhook } },
    }),
  );
  const edge = await EdgeClient.connect(
    `${control.url.replace('http', 'ws')}/v1/edge/link`,
    control.keys.edge_token,
  );
  const failed = Array.from({ length: 5 }, (_, index) => ({
    type: 'call' as const,
    call: callRecord(control.keys.org_id, {
      id: `00000000-0000-4000-8000-00000000000${index}`,
      trunk_id: patched.data.id,
      ended_at: new Date().toISOString(),
      answered_at: null,
      status: 'failed',
      sip_code: 503,
      termination: 'route_unreachable',
    }),
  }));
  edge.send(reportFrame(1, failed));
  await edge.next('ack');
  await edge.close();
}

describe('a control plane killed between raising an alert and delivering it', () => {
  it('raises it once, and delivers every notice once', async () => {
    mailPort = portOf(silent);
    await start();
    await failCalls();
    for (let kill = 1; kill <= 2; kill++) {
      // Both mails and the webhook are being sent when the program dies.
      await expect.poll(() => [heldMails, heldHooks]).toEqual([2 * kill, kill]);
      await control.end('SIGKILL');
      if (kill < 2) await start();
    }
    for (const socket of sockets) socket.destroy();
    await once(silent.close(), 'close');
    const mail = await startMailServer({ authOptional: true, hideSTARTTLS: true }, mailPort);
    isOpen = true;
    await start();
    await expect.poll(() => mail.received.length).toBe(2);
    await expect.poll(() => answered.length).toBe(1);
    await expect.poll(rounds).toBeGreaterThanOrEqual(2);
    await control.end('SIGTERM');
    await start();
    await expect.poll(rounds).toBeGreaterThanOrEqual(2);
    const { data }: { data: { alerts: { state: string; alert_id: string }[] } } = JSON.parse(
      await call('GET', '/v1/sip/alerts'),
    );
    expect(data.alerts).toMatchObject([{ state: 'open' }]);
    expect(mail.received.map(({ to }) => to).sort()).toEqual([['night@example.org'], ['ops@example.com']]);
    expect(new Set(mail.received.map(({ headers }) => headers['message-id']))).toEqual(
      new Set([`<alert.${data.alerts[0]?.alert_id}.raised@trunkline.example>`]),
    );
    expect(answered).toEqual([expect.stringMatching(/^sip\.alert\.raised evt_/)]);
    await control.end('SIGTERM');
    await mail.close();
  });
});

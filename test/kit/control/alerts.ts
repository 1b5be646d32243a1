/** Fixtures for alert tests: a mail server, an SMS service, and a trunk whose probes and calls are reported. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { EndpointCertificate, HealthProbe } from '#shared/trunk-protocol.ts';
import { evaluateAlerts } from '../../../control/alerts/evaluation.ts';
import { callRecord, connectEdge, reportFrame } from './edge-client.ts';
import type { TestControl } from './harness.ts';

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly from: string;
  /** Whether it came over TLS, and who logged in. */
  readonly secure: boolean;
  readonly user: string | undefined;
  /** The message's headers, lower-case names, unfolded. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface MailServer {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** Answers to the next RCPT TO commands: an SMTP status, or null to accept. */
  readonly answers: (number | null)[];
  close(): Promise<void>;
}

/** A real SMTP server on a free port. */
export async function startMailServer(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const answers: (number | null)[] = [];
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onRcptTo: (_address, _session, done) => {
      const status = answers.shift();
      if (status) done(Object.assign(new Error('not now'), { responseCode: status }));
      else done();
    },
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          to: rcptTo.map(({ address }) => address),
          from: mailFrom === false ? '' : mailFrom.address,
          secure: session.secure,
          user: session.user,
          ...parseMail(Buffer.concat(parts).toString()),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    answers,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parseMail(message: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = message.indexOf('\r\n\r\n');
  const lines = message
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = message.slice(end + 4).replaceAll('\r\n', '\n');
  const isQuoted = headers['content-transfer-encoding'] === 'quoted-printable';
  return { headers, text: isQuoted ? unquoted(body) : body };
}

/** RFC 2045 6.7, for ASCII. */
function unquoted(text: string): string {
  return text
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

interface ReceivedSms {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface SmsService {
  readonly url: string;
  readonly received: ReceivedSms[];
  /** Status codes of the next answers; then 202. */
  readonly answers: number[];
  close(): Promise<void>;
}

export async function startSmsService(): Promise<SmsService> {
  const received: ReceivedSms[] = [];
  const answers: number[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) });
      response.writeHead(answers.shift() ?? 202).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/messages`,
    received,
    answers,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const number = '+14155550100';

/** An outbound trunk of the test's organization, and an edge's reports about it. */
export class ReportedTrunk {
  readonly #test: TestControl;
  readonly id: string;
  #seq = 1;
  #calls = 0;

  private constructor(test: TestControl, id: string) {
    this.#test = test;
    this.id = id;
  }

  /** Attaches the trunk and enables its alerts with `alerts`. */
  static async start(test: TestControl, alerts: object = {}): Promise<ReportedTrunk> {
    await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_number: number,
        directions: ['inbound', { type: 'outbound', sip_endpoint: 'sip:trunk.example.com' }],
      },
    });
    const { body } = await patchAlerts(test, { enabled: true, ...alerts });
    return new ReportedTrunk(test, String(body.data?.id));
  }

  /** Reports one probe at the current time; null: it failed. */
  probe(ms: number | null, certificate?: EndpointCertificate): Promise<void> {
    const probe: HealthProbe = {
      trunk_id: this.id,
      endpoint: { host: 'trunk.example.com', port: 5061, priority: 0 },
      at: new Date(this.#test.clock.now()).toISOString(),
      healthy: ms !== null,
      response_time_ms: ms,
      sip_code: ms === null ? null : 200,
      error: ms === null ? 'timeout' : null,
      consecutive_failures: ms === null ? 1 : 0,
      active: true,
      ...(certificate && { certificate }),
    };
    return this.#report([{ type: 'health', probes: [probe] }]);
  }

  /** Reports calls that end now. */
  calls(completed: number, failed: number, trunkId = this.id): Promise<void> {
    const ended_at = new Date(this.#test.clock.now()).toISOString();
    const failure: Partial<CallRecord> = {
      answered_at: null,
      status: 'failed',
      sip_code: 503,
      termination: 'route_unreachable',
    };
    return this.#report(
      Array.from({ length: completed + failed }, (_, index) => ({
        type: 'call',
        call: callRecord(this.#test.orgId, {
          id: `00000000-0000-4000-8000-${String(++this.#calls).padStart(12, '0')}`,
          trunk_id: trunkId,
          ended_at,
          ...(index < failed ? failure : {}),
        }),
      })),
    );
  }

  /** Uses its own link, because links close when time is advanced. */
  async #report(bodies: readonly ReportBody[]): Promise<void> {
    const edge = await connectEdge(this.#test);
    edge.send(reportFrame(this.#seq, bodies, new Date(this.#test.clock.now()).toISOString()));
    this.#seq += bodies.length;
    await edge.next('ack');
    await edge.kill();
  }
}

export function patchAlerts(test: TestControl, alert_config: object | null, direction = 'outbound') {
  return test.call('PATCH', '/v1/sip/config', { body: { phone_number: number, direction, alert_config } });
}

/** Evaluates all alerts once at the test clock's time. */
export function evaluate({ control, clock }: TestControl): Promise<void> {
  const { announcements, config, database } = control.services;
  const { probeGapMs } = config;
  return evaluateAlerts({ db: database.db, clock, announcements, log: control.app.log, probeGapMs });
}

export const minute = 60_000;
/** So that only the test evaluates. */
export const noRounds = { alerts: { evaluationMs: 86_400_000 } };

/** Every client of both programs, each with one attempt at a target. */
import { expect } from 'vitest';
import { OutgoingFailure } from '#outgoing/failure.ts';
import { sendOutgoing } from '#outgoing/request.ts';
import type { FakeClock } from '#shared/clock.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';
import { Gate } from '#shared/models/gate.ts';
import { LanguageModel } from '#shared/models/language-model.ts';
import { postOpenAi } from '#shared/models/openai-http.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { mailSender } from '../../../control/alerts/mail.ts';
import { smsSender } from '../../../control/alerts/sms.ts';
import { webhookClient } from '../../../control/conversations/webhooks.ts';
import { httpCarrier } from '../../../control/porting/carrier-http.ts';
import { virusScan } from '../../../control/porting/virus-scan.ts';
import { post } from '../../../control/webhooks/send.ts';
import { StreamLink, streamLimits } from '../../../edge/agent/stream-link.ts';
import { RunSocket } from '../../../edge/agent/test-caller/run-socket.ts';
import { createToolClient } from '../../../edge/agent/tool-client.ts';
import { deepgram } from '../../../edge/agent/transcription/deepgram.ts';
import { socketProvider } from '../../../edge/agent/transcription/socket-provider.ts';
import { createWebhookClient } from '../../../edge/agent/webhook-client.ts';
import { defaultLinkLimits, Link } from '../../../edge/reporting/link.ts';
import { Outbox } from '../../../edge/reporting/outbox.ts';
import { RecordingLog } from '../edge/agent.ts';
import { MemoryDisk } from '../fakes/memory-disk.ts';

export const deadlineMs = 5000;

/** The inputs of an attempt. */
interface Attempt {
  /** Host and port of the target. */
  readonly host: string;
  readonly port: number;
  readonly resolve: ResolveHost;
  readonly ca: string;
  readonly clock: FakeClock;
}

export interface Client {
  readonly name: string;
  readonly tls: boolean;
  /** Whether it uses our look-up; the others get addresses. */
  readonly resolves: boolean;
  /** Its protocol, for the stages after the handshake. */
  readonly speaks: 'http' | 'websocket' | 'smtp' | 'clamd';
  /** Resolves with the error for its caller; null if the attempt succeeded. */
  readonly attempt: (attempt: Attempt) => Promise<string | null>;
}

// 255.255.255.255 and multicast fail in the system call itself (ENETUNREACH), as a name with only IPv6 addresses does
// on a host without an IPv6 route.
const allowed = parseNetworks(['127.0.0.0/8', '255.255.255.255', 'ff00::/8']);
const never = new AbortController().signal;

async function textOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function httpClients(tls: boolean): Client[] {
  const scheme = tls ? 'https' : 'http';
  const urlOf = ({ host, port }: Attempt) => `${scheme}://${host}:${port}/hook`;
  const partsOf = ({ clock, resolve, ca }: Attempt) => ({ clock, resolve, ca, allowedTargets: allowed });
  const webhook = (url: string) => ({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: deadlineMs });
  const common = { tls, resolves: true, speaks: 'http' } as const;
  const clients: Client[] = [
    {
      ...common,
      name: `an outgoing request over ${scheme}`,
      attempt: async (at) => {
        const request = { ...webhook(urlOf(at)), url: new URL(urlOf(at)), mostBytes: 100_000, signal: never };
        const failure = await sendOutgoing(partsOf(at), request).then(
          (answer) => (answer.cut ? 'cut' : null),
          (error: unknown) => error,
        );
        if (failure === null || failure === 'cut') return failure;
        expect(failure).toBeInstanceOf(OutgoingFailure);
        return (failure as OutgoingFailure).message;
      },
    },
    {
      ...common,
      name: `a webhook of a conversation in control over ${scheme}`,
      attempt: async (at) => (await webhookClient(partsOf(at))(webhook(urlOf(at)))).error,
    },
    {
      ...common,
      name: `a webhook node on a call over ${scheme}`,
      attempt: async ({ resolve, ca, clock, ...at }) => {
        const client = createWebhookClient({ resolve, ca, clock, allowed: () => allowed });
        return (await client(webhook(urlOf({ resolve, ca, clock, ...at })))).error;
      },
    },
  ];
  if (!tls) return clients;
  return [
    ...clients,
    {
      ...common,
      name: 'an event on its way to a customer',
      attempt: async (at) => {
        const parts = { ...partsOf(at), timeoutMs: deadlineMs };
        const result = await post(parts, urlOf(at), {}, '{}', never);
        return 'error' in result ? result.error : null;
      },
    },
    {
      tls,
      resolves: true,
      speaks: 'websocket',
      name: 'an audio socket',
      attempt: async ({ host, port, ...at }) => {
        const events = {
          opened: () => undefined,
          message: () => undefined,
          lost: () => undefined,
          closedByServer: () => undefined,
          givenUp: () => undefined,
        };
        const link = new StreamLink(
          {
            ...at,
            url: `wss://${host}:${port}/audio`,
            callId: 'call',
            signingSecret: 'c0ffee',
            allowed: () => allowed,
            log: new RecordingLog(),
            limits: { ...streamLimits, openTimeoutMs: deadlineMs },
          },
          events,
        );
        return textOf(link.connect()).finally(() => link.close());
      },
    },
  ];
}

/** A live transcription: its server comes from the settings. */
const transcription: Client = {
  name: 'a live transcription',
  tls: true,
  resolves: false,
  speaks: 'websocket',
  attempt: async ({ host, port, ca, clock }) => {
    const limit = new AbortController();
    const timer = clock.after(deadlineMs, () => limit.abort(new Error('too late')));
    const server = { url: new URL(`wss://${host}:${port}/v1/listen`), apiKey: 'k', model: 'm' };
    const events = {
      partial: () => undefined,
      settled: () => undefined,
      finished: () => undefined,
      turn: () => undefined,
      turnFailed: () => undefined,
      lost: () => undefined,
    };
    const options = { sampleRate: 8000, language: 'en-US', keyTerms: [] } as const;
    const provider = socketProvider(deepgram, server, { clock, ca });
    const attempt = provider.connect(options, events, limit.signal).then((connection) => connection.close());
    return textOf(attempt).finally(() => timer.cancel());
  },
};

/** Clients of servers that the operator configures: their addresses are not checked. */
const operatorClients: Client[] = [
  transcription,
  {
    name: 'an SMS service',
    tls: false,
    resolves: false,
    speaks: 'http',
    attempt: async ({ host, port, clock }) => {
      const url = `http://${host}:${port}/sms`;
      const sender = smsSender({ url, key: 'k', from: '+1999' }, clock, deadlineMs);
      const sent = await sender.send(notice, never);
      return sent.outcome === 'sent' ? null : sent.error;
    },
  },
  {
    name: 'the porting API of a carrier',
    tls: false,
    resolves: false,
    speaks: 'http',
    attempt: ({ host, port, clock }) => {
      const settings = { url: `http://${host}:${port}`, key: null, webhookSecret: null, pollMs: 1000 };
      const carrier = httpCarrier({ ...settings, timeoutMs: deadlineMs }, clock);
      return textOf(carrier.look('order', [], never));
    },
  },
  {
    name: 'a tool on a call, which control runs',
    tls: false,
    resolves: false,
    speaks: 'http',
    attempt: async ({ host, port, clock }) => {
      const controlUrl = `http://${host}:${port}`;
      const tool = {
        tool_id: 't',
        name: 't',
        description: '',
        timeout_ms: deadlineMs,
        input_schema: null,
        speech: null,
      };
      const run = createToolClient({ controlUrl, edgeToken: 'et', clock })([tool], {
        callId: 'c',
        orgId: 'o',
      });
      return (await run.run('t', {}, never, {})).error;
    },
  },
  {
    name: 'the socket of a test run',
    tls: false,
    resolves: false,
    speaks: 'websocket',
    attempt: async ({ host, port, clock }) => {
      const parts = {
        controlUrl: `http://${host}:${port}`,
        runId: 'r',
        key: 'k',
        clock,
        limitMs: 300,
      };
      return textOf(RunSocket.open({ ...parts, order: () => undefined, lost: () => undefined }));
    },
  },
  {
    name: 'a mail server',
    tls: false,
    resolves: false,
    speaks: 'smtp',
    attempt: (at) => mail(at, false),
  },
  {
    name: 'a mail server with TLS from the start',
    tls: true,
    resolves: false,
    speaks: 'smtp',
    attempt: (at) => mail(at, true),
  },
  {
    name: 'a speech server',
    tls: false,
    resolves: false,
    speaks: 'http',
    attempt: ({ host, port }) => {
      const server = { baseUrl: `http://${host}:${port}`, apiKey: null, model: 'm' };
      return textOf(postOpenAi({ ...server, retries: 0, timeoutMs: 300 }, 'audio/speech', () => '{}'));
    },
  },
  {
    name: 'a language model',
    tls: false,
    resolves: false,
    speaks: 'http',
    attempt: ({ host, port, clock }) => {
      const model = new LanguageModel({
        role: 'agent',
        baseUrl: `http://${host}:${port}`,
        apiKey: null,
        model: 'm',
        timeoutMs: deadlineMs,
        maxRetries: 0,
        maxTokens: 100,
        gate: new Gate(1, clock),
        clock,
        random: () => 0,
        usage: () => undefined,
        attempted: () => undefined,
      });
      return textOf(model.text({ system: 's', messages: [{ role: 'user', text: 'hello' }] }));
    },
  },
  {
    name: 'the link of an edge to control',
    tls: false,
    resolves: false,
    speaks: 'websocket',
    attempt: async ({ host, port, clock }) => {
      const failed = Promise.withResolvers<string>();
      const link = new Link({
        controlUrl: `http://${host}:${port}`,
        token: 'et',
        outbox: new Outbox(new MemoryDisk()),
        clock,
        limits: { ...defaultLinkLimits, openMs: 300 },
        hello: () => {
          throw new Error('the link opened');
        },
        onConfig: () => undefined,
        onChange: () => true,
        onCommand: async () => undefined,
        metrics: () => ({}),
        log: (_level, message, facts) => failed.resolve(`${message}: ${facts?.reason}`),
      });
      link.start();
      return failed.promise.finally(() => link.close());
    },
  },
  {
    name: 'a virus scanner',
    tls: false,
    resolves: false,
    speaks: 'clamd',
    attempt: async ({ host, port, clock }) => {
      let why = '';
      const log = {
        warn: ({ err }: { err: Error }) => {
          why = err.message;
        },
      };
      const scan = virusScan({ kind: 'clamd', host, port }, clock, deadlineMs, log as never);
      return (await textOf(scan(Buffer.alloc(200_000)))) && why;
    },
  },
];

const notice = {
  id: 'n',
  recipient: 'a@b.example',
  subject: 's',
  text: 't',
  messageId: '<n@b.example>',
  createdAt: 0,
};

async function mail({ host, port, ca, clock }: Attempt, secure: boolean): Promise<string | null> {
  const settings = { host, port, secure, user: null, password: null, from: 'x@b.example', requireTls: false };
  const limit = new AbortController();
  const timer = clock.after(deadlineMs, () => limit.abort(new Error('too late')));
  const sender = mailSender({ ...settings, ca: null }, ca, 60_000);
  const sent = await sender.send(notice, limit.signal);
  timer.cancel();
  return sent.outcome === 'sent' ? null : sent.error;
}

export const clients = [...httpClients(false), ...httpClients(true), ...operatorClients];

/**
 * Every client of both programs against targets that fail in every stage, immediately and late:
 *
 *     look-up -> connect -> TLS handshake -> response headers -> response body
 *
 * Each attempt ends with an error for its caller; nothing is thrown elsewhere, and no socket stays open.
 */
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { OutgoingFailure } from '#outgoing/failure.ts';
import { sendOutgoing } from '#outgoing/request.ts';
import { FakeClock } from '#shared/clock.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';
import { Gate } from '#shared/models/gate.ts';
import { LanguageModel } from '#shared/models/language-model.ts';
import { postOpenAi } from '#shared/models/openai-http.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { mailSender } from '../control/alerts/mail.ts';
import { smsSender } from '../control/alerts/sms.ts';
import { webhookClient } from '../control/conversations/webhooks.ts';
import { httpCarrier } from '../control/porting/carrier-http.ts';
import { virusScan } from '../control/porting/virus-scan.ts';
import { post } from '../control/webhooks/post.ts';
import { StreamLink, streamLimits } from '../edge/agent/stream-link.ts';
import { RunSocket } from '../edge/agent/test-caller/run-socket.ts';
import { createToolClient } from '../edge/agent/tool-client.ts';
import { createWebhookClient } from '../edge/agent/webhook-client.ts';
import { defaultLinkLimits, Link } from '../edge/reporting/link.ts';
import { Outbox } from '../edge/reporting/outbox.ts';
import { RecordingLog } from './kit/edge/agent.ts';
import { createAuthority } from './kit/fakes/certificates.ts';

const authority = createAuthority();
const pair = authority.issue({ names: ['DNS:target.example', 'IP:127.0.0.1'] });
const deadlineMs = 5000;

/** The inputs of an attempt. */
interface Attempt {
  /** Host and port of the target. */
  readonly host: string;
  readonly port: number;
  readonly resolve: ResolveHost;
  readonly ca: string;
  readonly clock: FakeClock;
}

interface Client {
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

/** Clients of servers that the operator configures: their addresses are not checked. */
const operatorClients: Client[] = [
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
        outbox: new Outbox(':memory:'),
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

const clients = [...httpClients(false), ...httpClients(true), ...operatorClients];

// ---------------------------------------------------------------- targets

/** What the target does with a connection. `reset` closes it with a TCP reset. */
type Behaviour = (socket: Socket, reset: () => void) => void;

const http = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const onRequest = (answer: Behaviour): Behaviour => {
  return (socket, reset) => void socket.once('data', () => answer(socket, reset));
};

/** Before any octet, TLS included. */
const onAccept: Record<string, { behaviour: Behaviour; late: boolean }> = {
  'resets the connection at once': { behaviour: (_socket, reset) => reset(), late: false },
  'closes the connection at once': { behaviour: (socket) => socket.end(), late: false },
  'talks another protocol': {
    behaviour: (socket) => socket.end('\u0000\u0001SSH-2.0-x\r\n\r\n'),
    late: false,
  },
  'says nothing': { behaviour: () => undefined, late: true },
};

/** After the request; `judgesBody`: only clients that read a body can see it. */
const onHead: Record<string, { behaviour: Behaviour; late?: boolean; body?: boolean }> = {
  'resets instead of a head': { behaviour: onRequest((_socket, reset) => reset()) },
  'closes instead of a head': { behaviour: onRequest((socket) => socket.end()) },
  'answers what is not HTTP': { behaviour: onRequest((socket) => socket.end('220 ready\r\n\r\n')) },
  'closes in the middle of a head': { behaviour: onRequest((socket) => socket.end(http)) },
  'has a head without end': {
    behaviour: onRequest((socket) => socket.write(`${http}x: ${'y'.repeat(200_000)}`)),
  },
  'asks for an upgrade that nobody wants': {
    behaviour: onRequest((socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ),
  },
  'never sends a head': { behaviour: onRequest(() => undefined), late: true },
  'resets in the middle of its body': {
    behaviour: onRequest((socket, reset) => {
      socket.write(`${http}content-length: 100\r\n\r\n{`, () => setImmediate(reset));
    }),
    body: true,
  },
  'closes in the middle of its body': {
    behaviour: onRequest((socket) => socket.end(`${http}content-length: 100\r\n\r\n{`)),
    body: true,
  },
  'has chunks that are none': {
    behaviour: onRequest((socket) => socket.end(`${http}transfer-encoding: chunked\r\n\r\nnothing`)),
    body: true,
  },
  'never ends its body': {
    behaviour: onRequest((socket) => socket.write(`${http}content-length: 100\r\n\r\n{`)),
    late: true,
    body: true,
  },
};

class Target {
  readonly server: Server;
  readonly sockets = new Set<Socket>();
  /** Resolves when the behavior was reached: the connection is open, or the request has arrived. */
  readonly reached = Promise.withResolvers<void>();

  constructor(tls: boolean, stage: 'accept' | 'request', behaviour: Behaviour) {
    const act = (socket: Socket) => {
      // After `behaviour`, so that its handling of the same data is finished.
      socket.on('error', () => undefined);
      behaviour(socket, () => {
        // The connection below TLS: TLS itself can only close in order.
        for (const raw of this.sockets) raw.resetAndDestroy();
      });
      // Unread data would hide that the other side has closed.
      socket.resume();
      if (stage === 'accept') this.reached.resolve();
      else socket.once('data', () => this.reached.resolve());
    };
    const secured = tls && stage === 'request';
    this.server = secured ? createTlsServer(pair, act) : createServer(act);
    this.server.on('tlsClientError', () => undefined);
    this.server.prependListener('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

// ---------------------------------------------------------------- the matrix

const thrownPast: unknown[] = [];
const note = (error: unknown) => thrownPast.push(error);
let clock: FakeClock;
let target: Target | null = null;

beforeAll(() => {
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
});
afterAll(() => {
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
});
beforeEach(() => {
  clock = new FakeClock();
});
afterEach(async () => {
  // An error event of a socket comes a tick after the attempt has ended.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  const thrown = thrownPast.splice(0);
  const last = target;
  target = null;
  try {
    // The other end of each connection has closed: the client has no open socket.
    await expect.poll(() => last?.sockets.size ?? 0).toBe(0);
  } finally {
    await last?.close();
  }
  expect(thrown).toEqual([]);
});

const pinned: ResolveHost = async () => ['127.0.0.1'];

function attemptAt(client: Client, port: number, resolve: ResolveHost = pinned): Promise<string | null> {
  const host = client.resolves ? 'target.example' : '127.0.0.1';
  return client.attempt({ host, port, resolve, ca: authority.cert, clock });
}

const resolving = clients.filter(({ resolves }) => resolves);
const withTls = clients.filter(({ tls }) => tls);

describe.each(resolving)('$name', (client) => {
  it.each<[string, ResolveHost]>([
    [
      'fails at once',
      () => {
        throw new Error('no name server');
      },
    ],
    ['fails', () => Promise.reject(new Error('no name server'))],
    [
      'fails late',
      () =>
        new Promise((_resolve, reject) => setImmediate(() => setImmediate(() => reject(new Error('late'))))),
    ],
    ['finds nothing', async () => []],
    ['finds what is not an allowed target', async () => ['10.0.0.1']],
  ])('tells of a look-up that %s', async (_name, resolve) => {
    expect(await attemptAt(client, 443, resolve)).toMatch(/target\.example/);
  });

  it('reports a look-up that does not end', async () => {
    const asked = Promise.withResolvers<void>();
    const result = attemptAt(client, 443, () => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    await asked.promise;
    clock.advance(deadlineMs);
    expect(await result).toMatch(/within 5000 ms/);
  });

  it.each([
    ['IPv4', '255.255.255.255'],
    ['IPv6 alone, without a route', 'ff0e::1'],
  ])('tells of an address that cannot be reached at once: %s', async (_name, address) => {
    const error = await attemptAt(client, 443, async () => [address]);
    expect(error).toMatch(/ENETUNREACH|EACCES|EADDRNOTAVAIL/);
    expect(error).not.toMatch(/Local|0\.0\.0\.0/);
  });

  it('continues with the address that answers', async () => {
    target = new Target(client.tls, 'accept', (socket) => socket.destroy());
    const port = await target.listen();
    const addresses = ['ff0e::1', '127.0.0.1'];
    const error = await attemptAt(client, port, async () => addresses);
    await target.reached.promise;
    expect(error).not.toBeNull();
  });
});

describe.each(clients)('$name', (client) => {
  it('reports a port where nobody listens', async () => {
    target = new Target(false, 'accept', () => undefined);
    const port = await target.listen();
    await target.close();
    target = null;
    expect(await attemptAt(client, port)).toMatch(/ECONNREFUSED/);
  });

  it.each(Object.entries(onAccept))('reports a target that %s', async (_name, { behaviour, late }) => {
    target = new Target(client.tls, 'accept', behaviour);
    const result = attemptAt(client, await target.listen());
    await target.reached.promise;
    if (late) clock.advance(deadlineMs);
    expect(await result).toBeTruthy();
  });
});

const overHttp = clients.filter(({ speaks }) => speaks === 'http' || speaks === 'websocket');

describe.each(overHttp)('$name', (client) => {
  it.each([301, 302, 303, 307, 308])('does not follow a redirect with %i', async (status) => {
    // The redirect must not give a checked or configured target access to other hosts.
    const inside = new Target(false, 'accept', () => undefined);
    let contacts = 0;
    inside.server.on('connection', () => contacts++);
    const location = `http://127.0.0.1:${await inside.listen()}/latest/meta-data`;
    target = new Target(
      client.tls,
      'request',
      onRequest((socket) =>
        socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
      ),
    );
    await attemptAt(client, await target.listen());
    await inside.close();
    expect(contacts).toBe(0);
  });

  const readsBody = client.speaks === 'http' && !/event on its way|SMS/.test(client.name);
  const stages = Object.entries(onHead).filter(([, { body }]) => readsBody || !body);
  it.each(stages)('reports a target that %s', async (_name, { behaviour, late }) => {
    target = new Target(client.tls, 'request', behaviour);
    const result = attemptAt(client, await target.listen());
    await target.reached.promise;
    if (late) clock.advance(deadlineMs);
    expect(await result).toBeTruthy();
  });
});

describe.each(overHttp.filter(({ speaks }) => speaks === 'http'))('$name', (client) => {
  it('stops reading an endless body', async () => {
    let written = 0;
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    const pour = (socket: Socket): void => {
      while (!socket.destroyed && written < 256 && socket.write(chunk)) written++;
      if (written < 256) socket.once('drain', () => pour(socket));
    };
    target = new Target(
      client.tls,
      'request',
      onRequest((socket) => {
        socket.write(`${http}transfer-encoding: chunked\r\n\r\n`);
        pour(socket);
      }),
    );
    // The body is endless: a client that returns has stopped reading.
    await attemptAt(client, await target.listen());
    expect(written).toBeLessThan(256);
  });
});

describe.each(withTls)('$name', (client) => {
  it('reports a certificate that it does not trust', async () => {
    target = new Target(true, 'request', () => undefined);
    const port = await target.listen();
    const host = client.resolves ? 'target.example' : '127.0.0.1';
    const { cert } = createAuthority('Another authority');
    const error = await client.attempt({ host, port, resolve: pinned, ca: cert, clock });
    expect(error).toMatch(/certificate/);
  });

  it('reports a certificate for another name', async () => {
    target = new Target(true, 'request', () => undefined);
    const port = await target.listen();
    const host = client.resolves ? 'other.example' : 'localhost';
    const attempt = { host, port, resolve: pinned, ca: authority.cert, clock };
    expect(await client.attempt(attempt)).toMatch(/another name|altnames|ECONNREFUSED/);
  });
});

it('an audio socket uses the connection to the checked address', async () => {
  const sockets = new WebSocketServer({ noServer: true });
  const server = createHttpsServer(pair);
  server.on('upgrade', (request, socket: Socket, head) => {
    sockets.handleUpgrade(request, socket, head, (bot) => bot.close(1000));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const opener = resolving.find(({ speaks }) => speaks === 'websocket');
  expect(opener && (await attemptAt(opener, (server.address() as AddressInfo).port))).toBeNull();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

it('a response of a speech server that is larger than any speech fails', async () => {
  const size = 17 * 1024 * 1024;
  target = new Target(
    false,
    'request',
    onRequest((socket) => {
      socket.write(`${http}content-length: ${size}\r\n\r\n`);
      socket.end(Buffer.alloc(size));
    }),
  );
  const server = { baseUrl: `http://127.0.0.1:${await target.listen()}`, apiKey: null, model: 'm' };
  await expect(postOpenAi(server, 'audio/speech', () => '{}')).rejects.toThrow(/larger than 16777216 bytes/);
});

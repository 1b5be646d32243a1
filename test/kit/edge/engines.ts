/**
 * The engines on which suites of signaling run: the fake, the embedded one, and a drachtio-server if `SIP_ENGINE` names
 * one. To a suite each is a `Bench`: an engine with one peer, whose messages the test writes.
 */
import { randomUUID } from 'node:crypto';
import type { EngineAddress } from '../../../edge/signaling/srf/srf.ts';
import { DrachtioServer, type PeerMessage, type Sent } from '../fakes/drachtio-server.ts';
import { type Heard, SipCaller } from '../fakes/sip-caller.ts';
import { drachtioPath } from '../programs/drachtio-program.ts';
import { eventually } from '../programs/eventually.ts';
import { startDrachtioServer, startEmbeddedEngine, type TlsEngine } from './engine-programs.ts';

/** What a test may need of an engine. */
export type Ability =
  /** It keeps transactions: answers CANCEL, sends 487 for the INVITE, knows which dialogs exist. */
  | 'transactions'
  /** Its messages are on a connection: several in one TLS record, a connection that closes. */
  | 'connections'
  /** It closes the connections of a source on request. */
  | 'blocking';

export interface EngineUnderTest {
  readonly name: string;
  /** By ability that it lacks, why. Tests that need it do not run on it. */
  readonly lacks: Readonly<Partial<Record<Ability, string>>>;
  start(): Promise<RunningEngine>;
}

export interface RunningEngine {
  /** A peer of its own for a test. */
  bench(): Promise<Bench>;
  /** With its own connections; null: it has none. */
  readonly tls: TlsEngine | null;
  stop(): Promise<void>;
}

export interface Bench extends Pick<DrachtioServer, 'peer' | 'cancel' | 'next' | 'idle' | 'answer'> {
  /** Where signaling connects. */
  readonly app: EngineAddress;
  /** From which the peer's messages come. */
  readonly peerAddress: string;
  /** Resolves once signaling, which has just connected, gets the peer's requests. */
  served(): Promise<void>;
  /** Ends the test: resolves once signaling, which has just disconnected, no longer gets any. */
  close(): Promise<void>;
}

const fake: EngineUnderTest = {
  name: 'the fake',
  lacks: {
    transactions: 'it passes every message on and keeps nothing',
    connections: 'its peer writes frames of the application protocol, not SIP on a connection',
    blocking: 'its peer has no connection',
  },
  start: async () => ({
    tls: null,
    bench: async () => {
      const server = await DrachtioServer.listen();
      const app = { host: '127.0.0.1', port: server.port, secret: 'cymru' };
      return Object.assign(server, { app, peerAddress: '192.0.2.1', served: async () => {} });
    },
    stop: async () => {},
  }),
};

const embedded: EngineUnderTest = {
  name: 'the embedded engine',
  lacks: {},
  start: async () => running(await startEmbeddedEngine()),
};

const path = drachtioPath();

function drachtioServer(program: string): EngineUnderTest {
  return {
    name: 'drachtio-server',
    lacks: { blocking: 'it ignores the block header of the edge (docs/engines.md)' },
    start: async () => running(await startDrachtioServer(program)),
  };
}

export const engines: readonly EngineUnderTest[] = [
  fake,
  embedded,
  ...(path === null ? [] : [drachtioServer(path)]),
];

function running(tls: TlsEngine): RunningEngine {
  return { tls, bench: () => TlsBench.connect(tls), stop: () => tls.stop() };
}

const ourTag = 'peer-tag';

/** The answer of an engine that has lost the request. */
function unanswered(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), 500));
}

/** A dialog of the peer, by Call-ID. */
interface PeerDialog {
  toTag: string;
  cseq: number;
  inviteCseq: number;
  inviteBranch: string;
}

/** A peer on a TLS connection, with the interface of the fake's. */
class TlsBench implements Bench {
  readonly peerAddress = '127.0.0.1';
  readonly app: EngineAddress;
  readonly #caller: SipCaller;
  /** Makes Call-IDs unique: the engine outlives the test. */
  readonly #suffix = `.${randomUUID()}`;
  readonly #dialogs = new Map<string, PeerDialog>();
  readonly #heard: Sent[] = [];
  readonly #responses = new Set<string>();
  /** Waits for the status of an OPTIONS, by Call-ID. */
  readonly #rounds = new Map<string, (status: number) => void>();
  #wake: (() => void)[] = [];

  static async connect(engine: TlsEngine): Promise<TlsBench> {
    return new TlsBench(engine, await SipCaller.connect(engine.port, engine.ca));
  }

  private constructor(engine: TlsEngine, caller: SipCaller) {
    this.app = engine.app;
    this.#caller = caller;
    void this.#listen();
  }

  peer(message: PeerMessage): string {
    const { method, headers = {}, body = '' } = message;
    const callId = message.callId ?? 'call-1@peer';
    const dialog = this.#dialogs.get(callId) ?? { toTag: '', cseq: 0, inviteCseq: 1, inviteBranch: '' };
    this.#dialogs.set(callId, dialog);
    const repeats = method === 'ACK' || method === 'CANCEL';
    const cseq = message.cseq ?? (repeats ? dialog.inviteCseq : dialog.cseq + 1);
    const branch = method === 'CANCEL' ? dialog.inviteBranch : `z9hG4bK${randomUUID()}`;
    if (!repeats) dialog.cseq = cseq;
    if (method === 'INVITE') Object.assign(dialog, { inviteCseq: cseq, inviteBranch: branch });
    const tag = message.toTag === undefined ? '' : `;tag=${dialog.toTag || message.toTag}`;
    const lines = [
      `${method} ${message.uri ?? 'sip:+14155550100@127.0.0.1:5061'} SIP/2.0`,
      `Via: SIP/2.0/TLS 127.0.0.1:5061;branch=${branch}`,
      `From: ${message.from ?? '"Ada" <sip:+14155550123@peer.example>'};tag=${ourTag}`,
      `To: ${message.to ?? '<sip:+14155550100@127.0.0.1>'}${tag}`,
      `Call-ID: ${callId}${this.#suffix}`,
      `CSeq: ${cseq} ${method}`,
      'Max-Forwards: 70',
      ...(headers.Contact === undefined && (method === 'INVITE' || method === 'UPDATE')
        ? ['Contact: <sip:ada@127.0.0.1:5061;transport=tls>']
        : []),
      ...(body === '' || headers['Content-Type'] ? [] : ['Content-Type: application/sdp']),
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ];
    this.#caller.send(lines.join('\r\n'));
    return branch;
  }

  cancel(callId?: string): void {
    this.peer({ method: 'CANCEL', ...(callId !== undefined && { callId }) });
  }

  answer(sent: Sent, status: number, reason: string, extra: Parameters<Bench['answer']>[3] = {}): void {
    const body = extra.body ?? '';
    const copied = ['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${sent.headers[name]}`);
    const added = Object.entries(extra.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
    const length = `Content-Length: ${Buffer.byteLength(body)}`;
    this.#caller.send([`SIP/2.0 ${status} ${reason}`, ...copied, ...added, length, '', body].join('\r\n'));
  }

  async next(): Promise<Sent> {
    for (;;) {
      const sent = this.#heard.shift();
      if (sent) return sent;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async idle(): Promise<void> {
    await this.#options();
  }

  served(): Promise<void> {
    return this.#untilOptionsGet(200);
  }

  async close(): Promise<void> {
    await this.#untilOptionsGet(503);
    this.#caller.close();
  }

  /** An engine answers 503 itself while no application takes requests; one sent to an application that leaves is lost. */
  async #untilOptionsGet(status: number): Promise<void> {
    await eventually(`OPTIONS to get ${status}`, async () =>
      (await Promise.race([this.#options(), unanswered()])) === status ? true : null,
    );
  }

  async #options(): Promise<number> {
    const callId = randomUUID();
    const answered = new Promise<number>((resolve) => this.#rounds.set(`${callId}${this.#suffix}`, resolve));
    this.peer({ method: 'OPTIONS', callId });
    return answered;
  }

  /** On a busy machine an engine repeats a 2xx, or a reliable 1xx, before its ACK or PRACK arrives. */
  #isRepeated({ startLine, headers }: Heard): boolean {
    if (!startLine.startsWith('SIP/2.0')) return false;
    const key = [startLine, headers['call-id'], headers.cseq, headers.rseq].join();
    if (this.#responses.has(key)) return true;
    this.#responses.add(key);
    return false;
  }

  /** Keeps what the fake would: no 100, which the engine makes, and no answer to `idle`. */
  async #listen(): Promise<void> {
    for (let heard = await this.#caller.next(); heard; heard = await this.#caller.next()) {
      const callId = heard.headers['call-id'] ?? '';
      const round = this.#rounds.get(callId);
      if (round) {
        round(Number(heard.startLine.split(' ')[1]));
        continue;
      }
      if (heard.startLine.startsWith('SIP/2.0 100') || this.#isRepeated(heard)) continue;
      const name = callId.slice(0, -this.#suffix.length);
      const dialog = this.#dialogs.get(name);
      const tag = /;tag=([^;]+)/.exec(heard.headers.to ?? '')?.[1];
      if (dialog && tag !== undefined && heard.startLine.startsWith('SIP/2.0')) dialog.toTag = tag;
      const dialogId = `${name};from-tag=${ourTag}`;
      this.#heard.push({ ...heard, transactionId: '', dialogId, proxy: '' });
      for (const wake of this.#wake.splice(0)) wake();
    }
  }
}

/** Plays an edge on the link, for tests. */
import { WebSocket } from 'ws';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ControlToEdge, EdgeToControl } from '#shared/edge-protocol/frames.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { TestControl } from './harness.ts';

export class EdgeClient {
  readonly #socket: WebSocket;
  readonly #received: ControlToEdge[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      this.#received.push(JSON.parse(data.toString()));
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        for (const wake of this.#waiting.splice(0)) wake();
      });
    });
  }

  /** Opens a link; rejects with the HTTP status when it is rejected. */
  static open(url: string, token: string | null): Promise<EdgeClient> {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, { headers });
    const client = new EdgeClient(socket);
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(client));
      socket.once('error', reject);
    });
  }

  /** Opens a link and sends hello. */
  static async connect(url: string, token: string, hello: Partial<Hello> = {}): Promise<EdgeClient> {
    const client = await EdgeClient.open(url, token);
    client.send({ ...helloFrame, ...hello });
    return client;
  }

  send(frame: EdgeToControl | object): void {
    this.#socket.send(JSON.stringify(frame));
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** Waits for the next frame of a type and removes it. */
  async next<T extends ControlToEdge['type']>(type: T): Promise<Extract<ControlToEdge, { type: T }>> {
    for (;;) {
      const index = this.#received.findIndex((frame) => frame.type === type);
      const [frame] = index < 0 ? [] : this.#received.splice(index, 1);
      if (isType(frame, type)) return frame;
      if (this.#socket.readyState === WebSocket.CLOSED)
        throw new Error(`The link closed before ${type} came`);
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  /** Waits until a frame of a type is there, and leaves it, or until the link closes. */
  async arrival(type: ControlToEdge['type']): Promise<void> {
    while (!this.#received.some((frame) => frame.type === type)) {
      if (this.#socket.readyState === WebSocket.CLOSED) return;
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  /** Received frames that were not yet removed. */
  get untaken(): readonly ControlToEdge[] {
    return this.#received;
  }

  close(): Promise<unknown> {
    this.#socket.close();
    return this.closed;
  }

  /** Cuts the connection without a close frame. */
  kill(): Promise<unknown> {
    this.#socket.terminate();
    return this.closed;
  }
}

type Hello = Extract<EdgeToControl, { type: 'hello' }>;

const helloFrame: Hello = {
  type: 'hello',
  protocol: 1,
  edge_id: 'edge-1',
  outbox_id: 'outbox-1',
  config_version: 0,
  sip: { host: 'edge.example.com', port: 5061 },
  rtp: { ip: '198.51.100.7', port_min: 10_000, port_max: 20_000 },
  codecs: ['PCMU', 'PCMA', 'Opus'],
  software: 'test',
};

function isType<T extends ControlToEdge['type']>(
  frame: ControlToEdge | undefined,
  type: T,
): frame is Extract<ControlToEdge, { type: T }> {
  return frame?.type === type;
}

let made = 0;

/** Of an edge that no earlier test was: its reports count from 1. For control planes that several tests share. */
export function anotherEdge(): Pick<Hello, 'edge_id' | 'outbox_id'> {
  made += 1;
  return { edge_id: `edge-of-test-${made}`, outbox_id: `outbox-of-test-${made}` };
}

/** Starts listening if necessary, and connects an edge; it can place calls from then on. */
export async function connectEdge(
  { url, edgeToken }: Pick<TestControl, 'url' | 'edgeToken'>,
  hello: Partial<Hello> = {},
): Promise<EdgeClient> {
  const edge = await EdgeClient.connect(
    `${(await url()).replace('http', 'ws')}/v1/edge/link`,
    edgeToken,
    hello,
  );
  await edge.arrival('config');
  return edge;
}

/** A report frame of consecutive sequence numbers. */
/** @param at when the edge wrote them */
export function reportFrame(
  firstSeq: number,
  bodies: readonly ReportBody[],
  at = '2030-01-01T00:00:00.000Z',
): EdgeToControl {
  return {
    type: 'report',
    reports: bodies.map((body, index) => ({ seq: firstSeq + index, at, body })),
  };
}

/** A call that was answered at 00:00:02 and ended at 00:00:47, with the changes of a test. */
export function callRecord(orgId: string, changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: '00000000-0000-4000-8000-000000000001',
    org_id: orgId,
    sip_call_id: 'a84b4c76e66710@pbx.example.com',
    direction: 'inbound',
    from: '+14155550123',
    to: '+14155550100',
    number: '+14155550100',
    trunk_id: null,
    source_ip: '198.51.100.9',
    started_at: '2030-01-01T00:00:00.000Z',
    answered_at: '2030-01-01T00:00:02.000Z',
    ended_at: '2030-01-01T00:00:47.250Z',
    status: 'completed',
    sip_code: 200,
    sip_reason: 'OK',
    termination: 'caller_hangup',
    termination_detail: null,
    hangup_by: 'peer',
    codec: 'PCMU',
    media: {
      packets_sent: 2250,
      packets_received: 2248,
      packets_lost: 2,
      jitter_ms: 3.1,
      round_trip_ms: 38,
      mos: 4.3,
      verdict: 'two_way',
      cause: null,
    },
    agent_kind: 'pathway',
    pathway_id: null,
    pathway_version: 0,
    max_duration: 30,
    request_data: {},
    variables: { digit: '1' },
    ...changes,
  };
}

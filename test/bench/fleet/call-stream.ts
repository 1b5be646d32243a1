/** What edges report about calls, at the rate of a number of concurrent calls. */
import { newTimedId } from '#shared/ids.ts';
import { callRecord } from '../../kit/control/edge-client.ts';
import type { SimulatedEdge } from './edge.ts';

/** Mean length of a call, s: 100,000 concurrent calls start and end 556 times a second. */
export const callSeconds = 180;
/** Transcript lines of a call, one report each: a line every 11 s. */
export const linesPerCall = 16;
/** Ringing, answered and ended; two parts of the trace. */
export const reportsPerCall = 3 + linesPerCall + 2;
/**
 * The reports of a call are sent within this time, s, and not within the call's length: starts, lines and ends a second
 * are those of the concurrent calls, without waiting minutes until as many end as start.
 */
const spreadSeconds = 5;
/** How often due reports are written, ms. */
const tickMs = 20;

const step = (spreadSeconds * 1000) / reportsPerCall;

/** Places calls on the edges in turn for a time, then waits until their reports are written. */
export class CallStream {
  readonly #edges: readonly SimulatedEdge[];
  readonly #perSecond: number;
  readonly #orgId: string;
  readonly #numbers: readonly string[];
  /** Calls with reports still to come, oldest first: all are equally long. */
  #running: Running[] = [];
  #started = 0;
  ended = 0;

  constructor(
    edges: readonly SimulatedEdge[],
    orgId: string,
    numbers: readonly string[],
    concurrent: number,
  ) {
    this.#edges = edges;
    this.#orgId = orgId;
    this.#numbers = numbers;
    this.#perSecond = concurrent / callSeconds;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** Resolves when the last call that began within `seconds` has reported its end. */
  run(seconds: number): Promise<void> {
    const begun = performance.now();
    const total = Math.max(1, Math.round(this.#perSecond * seconds));
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        const now = performance.now() - begun;
        while (this.#started < total && (this.#started / this.#perSecond) * 1000 <= now) this.#start();
        this.#advance(now);
        if (this.#started < total || this.#running.length > 0) return;
        clearInterval(timer);
        resolve();
      }, tickMs);
    });
  }

  #start(): void {
    const index = this.#started++;
    const edge = this.#edges[index % this.#edges.length];
    const number = this.#numbers[index % this.#numbers.length] ?? '';
    if (!edge) return;
    const bodies = bodiesOf(this.#orgId, number, Date.now(), index);
    this.#running.push({ edge, bodies, begun: (index / this.#perSecond) * 1000, next: 0 });
  }

  #advance(now: number): void {
    for (const call of this.#running) {
      for (; call.next < reportsPerCall && call.begun + call.next * step <= now; call.next++) {
        call.edge.report(call.bodies[call.next] ?? '');
      }
      if (call.next === reportsPerCall) this.ended++;
    }
    this.#running = this.#running.filter(({ next }) => next < reportsPerCall);
  }
}

interface Running {
  readonly edge: SimulatedEdge;
  readonly bodies: readonly string[];
  readonly begun: number;
  next: number;
}

const sentences = [
  'Good morning, this is the practice of Doctor Miller. How can I help you?',
  'I would like to move my appointment on Thursday to some day next week, if there is one.',
  'Certainly. I have Tuesday at nine, or Wednesday at a quarter past two in the afternoon.',
  'Wednesday is fine.',
];

/** The bodies of a call's reports as JSON, in order. @param now ms */
function bodiesOf(orgId: string, number: string, now: number, index: number): string[] {
  const id = newTimedId(now);
  const started_at = new Date(now).toISOString();
  const answered_at = new Date(now + 2_000).toISOString();
  const ended_at = new Date(now + callSeconds * 1000).toISOString();
  const call = callRecord(orgId, {
    id,
    sip_call_id: `${id}@pbx.example.com`,
    number,
    to: number,
    started_at,
    answered_at,
    ended_at,
  });
  const open = { ...call, ended_at: null, termination: null, hangup_by: null, media: null };
  const lines = Array.from({ length: linesPerCall }, (_, line) => ({
    type: 'transcript',
    call_id: id,
    entries: [
      {
        id: newTimedId(now + line),
        at: answered_at,
        user: line % 2 === 0 ? 'assistant' : 'user',
        text: `${sentences[line % sentences.length]} (${index})`,
        node_id: 'start',
        node_name: 'Reception',
      },
    ],
  }));
  const reports = [
    { type: 'call', call: { ...open, answered_at: null, status: 'ringing', sip_code: null, codec: null } },
    { type: 'call', call: { ...open, status: 'in-progress', sip_code: null } },
    { type: 'trace', call_id: id, messages: trace(id, started_at, setUp), truncated: false },
    ...lines,
    { type: 'call', call },
    { type: 'trace', call_id: id, messages: trace(id, ended_at, tearDown), truncated: false },
  ];
  return reports.map((body) => JSON.stringify(body));
}

/** First lines and sizes of a call's messages, octets. */
const setUp = [
  ['INVITE sip:+14155550100@edge.example.com SIP/2.0', 1_500],
  ['SIP/2.0 100 Trying', 350],
  ['SIP/2.0 180 Ringing', 500],
  ['SIP/2.0 200 OK', 1_300],
] as const;
const tearDown = [
  ['ACK sip:edge.example.com:5061;transport=tls SIP/2.0', 450],
  ['BYE sip:edge.example.com:5061;transport=tls SIP/2.0', 500],
  ['SIP/2.0 200 OK', 400],
] as const;
const header = 'X-Header: some value of a usual length\r\n';

function trace(id: string, at: string, messages: readonly (readonly [string, number])[]): object[] {
  return messages.map(([start_line, octets]) => {
    const first = `${start_line}\r\nCall-ID: ${id}@pbx.example.com\r\n`;
    return {
      at,
      direction: 'received',
      local: '203.0.113.20:5061',
      remote: '198.51.100.9:40312',
      transport: 'tls',
      start_line,
      raw: `${first}${header.repeat(Math.ceil((octets - first.length) / header.length))}\r\n`,
    };
  });
}

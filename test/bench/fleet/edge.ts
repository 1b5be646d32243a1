/**
 * An edge that only speaks the link: real frames, batches, window, retries and status of `edge/reporting/link.ts`, with
 * its outbox in memory. It reads the kind and version of a configuration and leaves the rest, so that a thousand of them
 * cost less than the control plane they measure.
 */
import { WebSocket } from 'ws';
import { systemClock, type Timer } from '#shared/clock.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { defaultLinkLimits } from '../../../edge/reporting/link.ts';
import { retryPause } from '../../../edge/reporting/link-rules.ts';

/** What happened to all edges together. */
export interface FleetCounts {
  /** Octets of frames. */
  reportBytes: number;
  configBytes: number;
  changeBytes: number;
  /** Whole configurations received. */
  snapshots: number;
  frames: number;
  statuses: number;
  connectionsLost: number;
  /** From the report of something to its acknowledgement, ms. */
  readonly lagsMs: number[];
}

export const noCounts = (): FleetCounts => ({
  reportBytes: 0,
  configBytes: 0,
  changeBytes: 0,
  snapshots: 0,
  frames: 0,
  statuses: 0,
  connectionsLost: 0,
  lagsMs: [],
});

export interface Fleet {
  readonly url: string;
  readonly token: string;
  /** Replaced by the benchmark for each of its phases. */
  counts: FleetCounts;
  readonly random: () => number;
  /** Called when an edge has a version of the configuration. */
  applied(edge: SimulatedEdge, version: number): void;
}

interface Kept {
  readonly text: string;
  readonly at: number;
}

/** As many values as an edge with an engine reports. */
const metricNames = Array.from({ length: 90 }, (_, index) => `trunkline_edge_benchmark_${index}_total`);
const { gatherMs, batchReports, batchBytes, window, statusMs, pingMs } = defaultLinkLimits;
/** The kind of a frame and the version of a configuration are at its start. */
const headOctets = 120;

export class SimulatedEdge {
  readonly id: string;
  readonly #fleet: Fleet;
  readonly #outboxId: string;
  #socket: WebSocket | null = null;
  #ready = false;
  #closed = false;
  /** Not acknowledged; the first has the number after `#acknowledged`. */
  #outbox: Kept[] = [];
  #acknowledged = 0;
  #sent = 0;
  #inFlight: number[] = [];
  #failures = 0;
  #version = 0;
  #gather: Timer | null = null;
  #timers: Timer[] = [];

  constructor(fleet: Fleet, id: string) {
    this.#fleet = fleet;
    this.id = id;
    this.#outboxId = `outbox-of-${id}`;
  }

  /** Reports that control has not acknowledged. */
  get pending(): number {
    return this.#outbox.length;
  }

  get version(): number {
    return this.#version;
  }

  /** Forgets the version of the last connection. */
  expectConfig(): void {
    this.#version = 0;
  }

  report(body: string): void {
    this.#outbox.push({ text: body, at: performance.now() });
    if (!this.#ready || this.#gather) return;
    this.#gather = systemClock.after(gatherMs, () => {
      this.#gather = null;
      this.#pump();
    });
  }

  connect(): void {
    const socket = new WebSocket(this.#fleet.url, {
      headers: { authorization: `Bearer ${this.#fleet.token}` },
      perMessageDeflate: false,
      maxPayload: 256 * 1024 * 1024,
    });
    this.#socket = socket;
    socket.on('open', () => this.#send(this.#hello()));
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.on('error', () => this.#lost(socket));
    socket.on('close', () => this.#lost(socket));
  }

  close(): void {
    this.#closed = true;
    this.#stopTimers();
    this.#socket?.terminate();
  }

  #hello(): string {
    return JSON.stringify({
      type: 'hello',
      protocol: 1,
      edge_id: this.id,
      outbox_id: this.#outboxId,
      config_version: this.#version,
      sip: { host: `${this.id}.example.com`, port: 5061 },
      rtp: { ip: '198.51.100.7', port_min: 10_000, port_max: 20_000 },
      codecs: ['PCMU', 'PCMA', 'G722', 'Opus'],
      software: 'benchmark',
      fleet: true,
      revision: edgeProtocol.revision,
      at: new Date().toISOString(),
    });
  }

  #receive(data: Buffer): void {
    const head = data.subarray(0, headOctets).toString('latin1');
    const kind = /^\{"type":"(\w+)"/.exec(head)?.[1];
    if (kind === 'ack') this.#acknowledge(Number(/"seq":(\d+)/.exec(head)?.[1]));
    else if (kind === 'welcome') this.#welcomed(Number(/"acknowledged":(\d+)/.exec(head)?.[1]));
    else if (kind === 'config' || kind === 'change') this.#configured(kind, head, data.length);
  }

  #configured(kind: 'config' | 'change', head: string, octets: number): void {
    const { counts } = this.#fleet;
    if (kind === 'config') {
      counts.configBytes += octets;
      counts.snapshots++;
    } else counts.changeBytes += octets;
    this.#version = Number(/"version":(\d+)/.exec(head)?.[1]);
    this.#send(`{"type":"applied","version":${this.#version}}`);
    this.#fleet.applied(this, this.#version);
  }

  #welcomed(acknowledged: number): void {
    this.#ready = true;
    this.#failures = 0;
    this.#inFlight = [];
    this.#drop(acknowledged);
    this.#sent = acknowledged;
    this.#status(0);
    this.#keepAlive();
    this.#pump();
  }

  #acknowledge(seq: number): void {
    const now = performance.now();
    const { lagsMs } = this.#fleet.counts;
    for (const { at } of this.#drop(seq)) lagsMs.push(now - at);
    this.#inFlight = this.#inFlight.filter((last) => last > seq);
    this.#pump();
  }

  #drop(seq: number): Kept[] {
    if (!(seq > this.#acknowledged)) return [];
    const dropped = this.#outbox.splice(0, seq - this.#acknowledged);
    this.#acknowledged = seq;
    return dropped;
  }

  #pump(): void {
    while (this.#ready && this.#inFlight.length < window) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      const at = new Date().toISOString();
      const reports = batch.map(
        ({ text }, index) => `{"seq":${this.#sent + 1 + index},"at":"${at}","body":${text}}`,
      );
      const frame = `{"type":"report","reports":[${reports.join(',')}]}`;
      this.#send(frame);
      this.#fleet.counts.reportBytes += frame.length;
      this.#fleet.counts.frames++;
      this.#sent += batch.length;
      this.#inFlight.push(this.#sent);
    }
  }

  #nextBatch(): Kept[] {
    const first = this.#sent - this.#acknowledged;
    const next = this.#outbox.slice(first, first + batchReports);
    let bytes = 0;
    const end = next.findIndex(({ text }, index) => {
      bytes += text.length;
      return index > 0 && bytes > batchBytes;
    });
    return end === -1 ? next : next.slice(0, end);
  }

  #status(ms: number): void {
    this.#later(ms, () => {
      const metrics = Object.fromEntries(metricNames.map((name, index) => [name, index * 1_000]));
      this.#send(JSON.stringify({ type: 'status', metrics, at: new Date().toISOString() }));
      this.#fleet.counts.statuses++;
      this.#status(statusMs);
    });
  }

  #keepAlive(): void {
    this.#later(pingMs, () => {
      this.#socket?.ping();
      this.#keepAlive();
    });
  }

  #later(ms: number, work: () => void): void {
    const timer = systemClock.after(ms, () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
      work();
    });
    this.#timers.push(timer);
  }

  #stopTimers(): void {
    for (const timer of [...this.#timers.splice(0), ...(this.#gather ? [this.#gather] : [])]) timer.cancel();
    this.#gather = null;
  }

  #lost(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    if (this.#ready) this.#fleet.counts.connectionsLost++;
    this.#ready = false;
    this.#stopTimers();
    if (this.#closed) return;
    socket.terminate();
    const pause = retryPause(defaultLinkLimits, this.#failures++, false, this.#fleet.random());
    this.#later(pause, () => this.connect());
  }

  #send(text: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }
}

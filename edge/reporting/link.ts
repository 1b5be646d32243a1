import WebSocket from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { EdgeConfig, EdgeConfigChange } from '#shared/edge-protocol/config.ts';
import type { CallAnswer, CallCountFrame, Learned, Membership } from '#shared/edge-protocol/fleet.ts';
import type { ControlToEdge, EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { apiErrors } from '#shared/errors.ts';
import { isRefusal, type RetryLimits, retryPause } from './link-rules.ts';
import type { Outbox, StoredReport } from './outbox.ts';
import { validFrame } from './valid-frame.ts';

type CommandFrame = Extract<ControlToEdge, { type: 'command' }>;

export interface LinkLimits extends RetryLimits {
  /** Maximum reports in one frame. */
  readonly batchReports: number;
  /** Maximum octets of report bodies in one frame; a larger report is sent alone. */
  readonly batchBytes: number;
  /** Maximum frames sent and not yet acknowledged. */
  readonly window: number;
  /** How long reports are collected before a frame is sent, ms. */
  readonly gatherMs: number;
  /** Ping interval, and silence after which the connection counts as lost, ms. */
  readonly pingMs: number;
  readonly deadMs: number;
  /** Interval of status frames, ms. */
  readonly statusMs: number;
  /** Time limit for the WebSocket to open, ms. */
  readonly openMs: number;
}

export const defaultLinkLimits: LinkLimits = {
  batchReports: 200,
  batchBytes: 1_000_000,
  window: 4,
  gatherMs: 10,
  retryMs: 250,
  // Edges reconnect within 2 s of control's return.
  maxRetryMs: 1_500,
  maxRefusedMs: 15_000,
  pingMs: 10_000,
  deadMs: 25_000,
  statusMs: 10_000,
  openMs: 10_000,
};

export interface LinkFleet {
  welcomed(byFleet: boolean): void;
  receive(frame: FleetFrame): void;
}

export type FleetFrame = Membership | Learned | CallAnswer;

export interface LinkOptions {
  /** http(s) base URL of the control plane. */
  readonly controlUrl: string;
  readonly token: string;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly limits?: LinkLimits;
  /** 0..1; jitter of the attempts. Default: Math.random. */
  readonly random?: () => number;
  /** The first frame of each connection. */
  hello(): Extract<EdgeToControl, { type: 'hello' }>;
  onConfig(config: EdgeConfig): void;
  /** False: the change does not match the edge's version, and the full configuration is needed. */
  onChange(change: EdgeConfigChange): boolean;
  onCommand(command: EdgeCommand): Promise<void>;
  /** Frames of the fleet, and the welcome of a control plane: whether it knows fleets. */
  readonly fleet?: LinkFleet;
  metrics(): Record<string, number>;
  log(level: 'info' | 'warn' | 'error', message: string, facts?: Record<string, unknown>): void;
}

/**
 * The edge's only connection to control. Reports are sent from the outbox in order, a few frames ahead of their
 * acknowledgements. After a reconnect everything unacknowledged is sent again, and control ignores duplicates.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #limits: LinkLimits;
  #socket: WebSocket | null = null;
  /** Set between `welcome` and the loss of the connection. */
  #ready = false;
  #closed = false;
  #sentSeq = 0;
  /** Last sequence number of each frame in flight. */
  #inFlight: number[] = [];
  /** Failed attempts in a row. */
  #failures = 0;
  #retry: Timer | null = null;
  #gather: Timer | null = null;
  #ping: Timer | null = null;
  #status: Timer | null = null;
  #lastHeard = 0;
  #drained: (() => void)[] = [];
  /** Connections that were established. */
  connections = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#limits = options.limits ?? defaultLinkLimits;
  }

  get connected(): boolean {
    return this.#ready;
  }

  start(): void {
    this.#connect();
  }

  /** Called when there are new reports in the outbox. */
  notify(): void {
    if (!this.#ready || this.#gather) return;
    this.#gather = this.#options.clock.after(this.#limits.gatherMs, () => {
      this.#gather = null;
      this.#pump();
    });
  }

  /** Sends a frame of the fleet; lost while there is no link. */
  tell(frame: CallCountFrame): void {
    if (this.#ready) this.#send(frame);
  }

  /** Sends the edge's metrics to control now. */
  sendStatus(): void {
    if (!this.#ready) return;
    this.#status?.cancel();
    this.#scheduleStatus(0);
  }

  /** Resolves when control has acknowledged everything, or after `ms`. True: everything is acknowledged. */
  async flush(ms: number): Promise<boolean> {
    if (this.#options.outbox.pending === 0) return true;
    let timer: Timer | undefined;
    const drained = new Promise<boolean>((resolve) => {
      this.#drained.push(() => resolve(true));
      timer = this.#options.clock.after(ms, () => resolve(false));
    });
    this.#pump();
    const result = await drained;
    timer?.cancel();
    return result;
  }

  close(): void {
    this.#closed = true;
    for (const timer of [this.#retry, this.#gather, this.#ping, this.#status]) timer?.cancel();
    const socket = this.#socket;
    this.#lost(null);
    socket?.close(1000);
    // A peer that ignores the closing handshake must not keep the process alive.
    socket?.terminate();
  }

  #connect(): void {
    this.#retry = null;
    const url = new URL('/v1/edge/link', this.#options.controlUrl);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${this.#options.token}` },
      handshakeTimeout: this.#limits.openMs,
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: 256 * 1024 * 1024,
    });
    this.#socket = socket;
    socket.on('open', () => {
      this.#lastHeard = this.#options.clock.elapsed();
      this.#send({ ...this.#options.hello(), at: this.#now() });
      // Also before the welcome, or a control plane that disappears between the two would be awaited forever.
      this.#schedulePing();
    });
    socket.on('message', (data, binary) => {
      this.#lastHeard = this.#options.clock.elapsed();
      if (!binary) this.#receive(data.toString());
    });
    socket.on('pong', () => {
      this.#lastHeard = this.#options.clock.elapsed();
    });
    socket.on('error', (error) => this.#lost(socket, error.message));
    socket.on('close', (code, reason) =>
      this.#lost(socket, `closed with ${code} ${reason.toString()}`.trim()),
    );
  }

  #lost(socket: WebSocket | null, why?: string): void {
    if (socket !== null && socket !== this.#socket) return;
    const wasReady = this.#ready;
    this.#socket = null;
    this.#ready = false;
    this.#inFlight = [];
    this.#ping?.cancel();
    this.#status?.cancel();
    if (this.#closed || socket === null) return;
    socket.terminate();
    const { random = Math.random } = this.#options;
    const pauseMs = retryPause(this.#limits, this.#failures, isRefusal(why), random());
    this.#failures++;
    // Logs the first failure, then less and less often.
    if (Number.isInteger(Math.log2(Math.max(1, this.#failures)))) {
      this.#options.log('warn', wasReady ? 'control plane lost' : 'control plane unreachable', {
        control_url: this.#options.controlUrl,
        reason: why,
        failures: this.#failures,
        retry_ms: pauseMs,
      });
    }
    this.#retry = this.#options.clock.after(pauseMs, () => this.#connect());
  }

  #receive(text: string): void {
    let frame: unknown;
    try {
      frame = JSON.parse(text);
    } catch {
      this.#options.log('error', 'control sent a frame that is not JSON');
      return;
    }
    if (!validFrame.Check(frame)) {
      this.#options.log('error', 'control sent a frame that this edge does not know', {
        type: (frame as { type?: unknown }).type,
        problem: validFrame.Errors(frame)[0]?.message,
      });
      return;
    }
    switch (frame.type) {
      case 'welcome':
        this.#welcomed(frame.acknowledged);
        this.#options.fleet?.welcomed(frame.fleet === true);
        break;
      case 'config':
        this.#options.onConfig(frame.config);
        this.#send({ type: 'applied', version: frame.config.version });
        break;
      case 'change':
        this.#changed(frame.change);
        break;
      case 'ack':
        this.#acknowledged(frame.seq);
        break;
      case 'command':
        void this.#command(frame);
        break;
      case 'fleet':
      case 'learned':
      case 'call_answer':
        this.#options.fleet?.receive(frame);
        break;
    }
  }

  #changed(change: EdgeConfigChange): void {
    if (this.#options.onChange(change)) {
      this.#send({ type: 'applied', version: change.version });
      return;
    }
    this.#options.log(
      'warn',
      'configuration change does not match our version; reconnecting for the full configuration',
    );
    // The next hello contains our version, and control answers with the full configuration.
    this.#socket?.terminate();
  }

  #welcomed(acknowledged: number): void {
    this.connections += 1;
    this.#ready = true;
    this.#failures = 0;
    this.#inFlight = [];
    this.#options.outbox.acknowledge(acknowledged);
    this.#sentSeq = acknowledged;
    this.#options.log('info', 'control plane connected', { control_url: this.#options.controlUrl });
    this.#scheduleStatus(0);
    this.#pump();
    this.#resolveDrained();
  }

  #acknowledged(seq: number): void {
    this.#options.outbox.acknowledge(seq);
    this.#inFlight = this.#inFlight.filter((last) => last > seq);
    this.#pump();
    this.#resolveDrained();
  }

  #resolveDrained(): void {
    if (this.#options.outbox.pending > 0) return;
    for (const drained of this.#drained.splice(0)) drained();
  }

  #pump(): void {
    const socket = this.#socket;
    if (!this.#ready || !socket) return;
    while (this.#inFlight.length < this.#limits.window) {
      const batch = this.#nextBatch();
      const last = batch.at(-1);
      if (!last) return;
      // The bodies are JSON already, so the frame is built without parsing them.
      const reports = batch.map((r) => `{"seq":${r.seq},"at":"${r.at}","body":${r.body}}`);
      socket.send(`{"type":"report","reports":[${reports.join(',')}]}`);
      this.#sentSeq = last.seq;
      this.#inFlight.push(last.seq);
    }
  }

  #nextBatch(): StoredReport[] {
    const reports = this.#options.outbox.read(this.#sentSeq, this.#limits.batchReports);
    let bytes = 0;
    const fitting = reports.findIndex((report, index) => {
      bytes += report.body.length;
      return index > 0 && bytes > this.#limits.batchBytes;
    });
    return fitting === -1 ? reports : reports.slice(0, fitting);
  }

  async #command({ id, command, expires_at: expiresAt }: CommandFrame): Promise<void> {
    try {
      if (expiresAt !== undefined && this.#options.clock.now() > Date.parse(expiresAt)) {
        this.#options.log('warn', 'a command had expired', { kind: command.kind, expires_at: expiresAt });
        throw new Error(`the command expired at ${expiresAt}`);
      }
      await this.#options.onCommand(command);
      this.#send({ type: 'result', id, ok: true });
    } catch (error) {
      this.#send({
        type: 'result',
        id,
        ok: false,
        error: error instanceof Error ? error.message : String(error),
        ...codeOf(error),
      });
    }
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }

  #send(frame: EdgeToControl): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #schedulePing(): void {
    this.#ping = this.#options.clock.after(this.#limits.pingMs, () => {
      if (this.#options.clock.elapsed() - this.#lastHeard > this.#limits.deadMs) {
        this.#lost(this.#socket, `nothing heard for ${this.#limits.deadMs} ms`);
        return;
      }
      this.#socket?.ping();
      this.#schedulePing();
    });
  }

  #scheduleStatus(ms: number): void {
    this.#status = this.#options.clock.after(ms, () => {
      this.#send({ type: 'status', metrics: this.#options.metrics(), at: this.#now() });
      this.#scheduleStatus(this.#limits.statusMs);
    });
  }
}

/** The error code, if it describes a fault of the command; control does not need other codes, such as system errors. */
function codeOf(error: unknown): { code?: string } {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return {};
  return Object.hasOwn(apiErrors, error.code) ? { code: error.code } : {};
}

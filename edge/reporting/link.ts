import WebSocket from 'ws';
import type { Timer } from '#shared/clock.ts';
import type { EdgeConfigChange } from '#shared/edge-protocol/config.ts';
import type { CallCountFrame } from '#shared/edge-protocol/fleet.ts';
import type { ControlToEdge, EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { comparedRevision, edgeProtocol } from '#shared/edge-protocol/revision.ts';
import type { LinkLimits, LinkOptions } from './link-options.ts';
import { codeOf, firstFitting, isRefusal, retryPause } from './link-rules.ts';
import { readFrame } from './valid-frame.ts';

type CommandFrame = Extract<ControlToEdge, { type: 'command' }>;

export const defaultLinkLimits: LinkLimits = {
  batchReports: 200,
  batchBytes: 1_000_000,
  window: 4,
  gatherMs: 20,
  retryMs: 250,
  // Edges reconnect within 2 s of control's return.
  maxRetryMs: 1_500,
  maxRefusedMs: 15_000,
  pingMs: 10_000,
  deadMs: 25_000,
  statusMs: 10_000,
  openMs: 10_000,
};

/**
 * The edge's only connection to control. Reports are sent from the outbox in order, a few frames ahead of their
 * acknowledgements. After a reconnect everything unacknowledged is sent again, and control ignores duplicates.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #limits: LinkLimits;
  #socket: WebSocket | null = null;
  /** During a move: the connection that will replace `#socket` with its welcome. */
  #next: WebSocket | null = null;
  /** After a move: the former connection, on which control still waits for results. */
  #former: WebSocket | null = null;
  /** Set between `welcome` and the loss of the connection. */
  #ready = false;
  #closed = false;
  #sentSeq = 0;
  /** Last sequence number of each frame in flight. */
  #inFlight: number[] = [];
  /** Failed attempts in a row. */
  #failures = 0;
  #retry: Timer | null = null;
  #move: Timer | null = null;
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
    for (const timer of [this.#retry, this.#move, this.#gather, this.#ping, this.#status]) timer?.cancel();
    const sockets = [this.#socket, this.#next, this.#former];
    this.#lost(null);
    for (const socket of sockets) {
      socket?.close(1000);
      // A peer that ignores the closing handshake must not keep the process alive.
      socket?.terminate();
    }
  }

  #connect(): void {
    this.#retry = null;
    this.#socket = this.#open();
  }

  /**
   * Connects a second time, and changes over with its welcome, so that commands and reports have a connection all the
   * time. Another attempt follows a failed one until control closes the first connection.
   */
  #moveElsewhere(): void {
    this.#move = null;
    if (this.#closed || !this.#ready || this.#next) return;
    this.#next = this.#open();
  }

  #changeOver(socket: WebSocket): void {
    const former = this.#socket;
    this.#former?.terminate();
    this.#former = former;
    this.#ping?.cancel();
    this.#status?.cancel();
    this.#promote(socket);
    // Control closes it when it has its results, unless it hangs.
    this.#move = this.#options.clock.after(this.#limits.deadMs, () => former?.terminate());
  }

  #open(): WebSocket {
    const url = new URL('/v1/edge/link', this.#options.controlUrl);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${this.#options.token}` },
      handshakeTimeout: this.#limits.openMs,
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: 256 * 1024 * 1024,
    });
    const heard = () => {
      if (socket === this.#socket) this.#lastHeard = this.#options.clock.elapsed();
    };
    socket.on('open', () => {
      heard();
      const { revision } = edgeProtocol;
      this.#send({ ...this.#options.hello(), moves: true, revision, at: this.#now() }, socket);
      // Also before the welcome, or a control plane that disappears between the two would be awaited forever.
      if (socket === this.#socket) this.#schedulePing();
    });
    socket.on('message', (data, binary) => {
      heard();
      if (!binary) this.#receive(data.toString(), socket);
    });
    socket.on('pong', heard);
    socket.on('error', (error) => this.#lost(socket, error.message));
    socket.on('close', (code, reason) =>
      this.#lost(socket, `closed with ${code} ${reason.toString()}`.trim()),
    );
    return socket;
  }

  #lost(socket: WebSocket | null, why?: string): void {
    if (socket !== null && socket === this.#next) {
      this.#next = null;
      if (!this.#closed)
        this.#move = this.#options.clock.after(this.#limits.retryMs, () => this.#moveElsewhere());
      return;
    }
    if (socket !== null && socket !== this.#socket) return;
    const wasReady = this.#ready;
    this.#move?.cancel();
    this.#socket = null;
    this.#ready = false;
    this.#inFlight = [];
    this.#ping?.cancel();
    this.#status?.cancel();
    if (this.#closed || socket === null) return;
    socket.terminate();
    if (this.#next) {
      this.#promote(this.#next);
      return;
    }
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

  /** The connection that was to replace the lost one is the only one now. */
  #promote(next: WebSocket): void {
    this.#socket = next;
    this.#next = null;
    this.#lastHeard = this.#options.clock.elapsed();
    if (next.readyState === WebSocket.OPEN) this.#schedulePing();
  }

  #receive(text: string, socket: WebSocket): void {
    const frame = readFrame(text, this.#options.log);
    if (frame === null) return;
    if (socket === this.#next && frame.type === 'welcome') this.#changeOver(socket);
    // The former connection only asks for what is under way.
    if (socket !== this.#socket && frame.type !== 'command') return;
    switch (frame.type) {
      case 'welcome':
        this.#welcomed(frame);
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
        void this.#command(frame, socket);
        break;
      case 'move':
        this.#moveElsewhere();
        break;
      case 'fleet':
      case 'learned':
      case 'call_answer':
      case 'calls_wanted':
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

  #welcomed({
    acknowledged,
    fleet = false,
    revision = 0,
  }: Extract<ControlToEdge, { type: 'welcome' }>): void {
    this.connections += 1;
    this.#ready = true;
    this.#failures = 0;
    this.#inFlight = [];
    const { outbox } = this.#options;
    const hasForgotten = acknowledged < outbox.acknowledged;
    outbox.acknowledge(acknowledged);
    this.#sentSeq = acknowledged;
    this.#options.log('info', 'control plane connected', { control_url: this.#options.controlUrl });
    if (comparedRevision(revision) === 'older')
      this.#options.log(
        'warn',
        'the control plane is of an earlier version than this edge: upgrade it first',
        {
          control_url: this.#options.controlUrl,
        },
      );
    const countsCalls = fleet && revision >= edgeProtocol.countsCalls;
    this.#options.onWelcome?.({
      hasForgotten,
      closesCalls: revision >= edgeProtocol.closesCalls,
      storesMeasured: revision >= edgeProtocol.storesMeasured,
      storesRefused: revision >= edgeProtocol.storesRefused,
    });
    this.#scheduleStatus(0);
    this.#pump();
    this.#resolveDrained();
    this.#options.fleet?.welcomed({ fleet, countsCalls });
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
    const { outbox } = this.#options;
    const socket = this.#socket;
    if (!this.#ready || !socket) return;
    while (this.#inFlight.length < this.#limits.window) {
      const { batchBytes, batchReports } = this.#limits;
      const batch = firstFitting(outbox.read(this.#sentSeq, batchReports), batchBytes);
      const last = batch.at(-1);
      if (!last) return;
      // The bodies are JSON already, so the frame is built without parsing them.
      const reports = batch.map((r) => `{"seq":${r.seq},"at":"${r.at}","body":${r.body}}`);
      socket.send(`{"type":"report","reports":[${reports.join(',')}]}`);
      this.#sentSeq = last.seq;
      this.#inFlight.push(last.seq);
    }
  }

  async #command({ id, command, expires_at: expiresAt }: CommandFrame, socket: WebSocket): Promise<void> {
    try {
      if (expiresAt !== undefined && this.#options.clock.now() > Date.parse(expiresAt)) {
        this.#options.log('warn', 'a command had expired', { kind: command.kind, expires_at: expiresAt });
        throw new Error(`the command expired at ${expiresAt}`);
      }
      await this.#options.onCommand(command);
      this.#send({ type: 'result', id, ok: true }, socket);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#send({ type: 'result', id, ok: false, error: message, ...codeOf(error) }, socket);
    }
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }

  #send(frame: EdgeToControl, socket = this.#socket): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
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

/**
 * One connection of an edge (diagram in shared/edge-protocol/frames.ts):
 *
 *     waiting --hello--> open --close, error, silence--> closed
 *
 * Frames are processed one after another. The socket is not read meanwhile, so an edge that sends faster than the
 * database stores is slowed down instead of filling memory.
 */
import type { RawData, WebSocket } from 'ws';
import type { Timer } from '#shared/clock.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { FleetFrame } from '#shared/edge-protocol/fleet.ts';
import type { ControlToEdge, EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { comparedRevision, edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { ApiError, isApiErrorCode } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { closeCode } from './close-codes.ts';
import { Unanswered, validFor } from './command-rules.ts';
import { EdgeTime } from './edge-time.ts';
import type { LinkParts } from './link-parts.ts';
import { readFrame } from './read-frame.ts';
import { type LinkedEdge, stateOf } from './registry.ts';
import type { ReportSource, SequencedReport } from './reports.ts';
import { type EdgePlan, hadOtherOutbox, newEdge, planOf, rememberEdge } from './store.ts';

type Frame = EdgeToControl;
type Hello = Extract<Frame, { type: 'hello' }>;

const helloTimeoutMs = 10_000;
const pingEveryMs = 15_000;

const versionAdvice = {
  older: 'the edge is of an earlier version: upgrade it',
  newer: 'the edge is of a later version: upgrade the control plane first',
} as const;

/** Serves the connection until it ends. */
export function serveLink(socket: WebSocket, parts: LinkParts): Pick<EdgeLink, 'move'> {
  return new EdgeLink(socket, parts);
}

class EdgeLink implements LinkedEdge {
  readonly #socket: WebSocket;
  readonly #parts: LinkParts;
  readonly #commands = new Map<string, PromiseWithResolvers<void>>();
  #hello: Hello | undefined;
  #source: ReportSource | undefined;
  #work: Promise<void> = Promise.resolve();
  #timer: Timer;
  #answersPing = true;
  #isSilent = false;
  #closed = false;
  #isReplaced = false;
  #sentVersion = 0;
  #applied = 0;
  #metrics: Readonly<Record<string, number>> = {};
  #ordered = 0;
  #plan: EdgePlan = newEdge;
  /** Whether the edge has sent a frame that only newer programs know. */
  #sentNewer = false;
  readonly #edgeTime = new EdgeTime();
  #stopListening: (() => void) | undefined;

  constructor(socket: WebSocket, parts: LinkParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#timer = parts.clock.after(helloTimeoutMs, () =>
      this.close(closeCode.protocolError, 'no hello came'),
    );
    socket.on('message', (data, binary) => this.#receive(data, binary));
    socket.on('pong', () => {
      this.#answersPing = true;
      this.#isSilent = false;
    });
    socket.on('error', (error) => parts.log.warn({ err: error, edge: this.edgeId }, 'edge link failed'));
    socket.once('close', (code, reason) => this.#ended(code, reason.toString()));
  }

  get edgeId(): string {
    return this.#hello?.edge_id ?? '';
  }

  get isOpen(): boolean {
    return this.#canSend && !this.#isReplaced;
  }

  get #canSend(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  get appliedVersion(): number {
    return this.#applied;
  }

  get sip(): Hello['sip'] {
    return this.#hello?.sip ?? { host: '', port: 0 };
  }

  get rtp(): Hello['rtp'] {
    return this.#hello?.rtp ?? { ip: '', port_min: 0, port_max: 0 };
  }

  get codecs(): readonly string[] {
    return this.#hello?.codecs ?? [];
  }

  get inFleet(): boolean {
    return this.#hello?.fleet === true;
  }

  tell(frame: FleetFrame): void {
    this.#send(frame);
  }

  get metrics(): Readonly<Record<string, number>> {
    return this.#metrics;
  }

  get ordered(): number {
    return this.#ordered;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  get plan(): EdgePlan {
    return this.#plan;
  }

  async command(command: EdgeCommand, spentMs = 0): Promise<void> {
    // Counted at once: a burst of orders spreads over the edges before any of them reports its calls.
    if (command.kind === 'call.place' || command.kind === 'test_call.run') this.#ordered++;
    // A configuration published before the command also reaches the edge before it.
    await this.#work;
    if (!this.isOpen) throw ApiError.unavailable('The edge is not connected.', 5);
    const id = newId();
    const answer = Promise.withResolvers<void>();
    this.#commands.set(id, answer);
    const timeout = this.#parts.clock.after(Math.max(0, this.#parts.commandTimeoutMs - spentMs), () => {
      this.#isSilent = true;
      answer.reject(new Unanswered('The edge did not answer in time.'));
      this.#takeBack(command);
    });
    try {
      this.#send({ type: 'command', id, command, ...this.#validity(command, spentMs) });
      await answer.promise;
    } finally {
      timeout.cancel();
      this.#commands.delete(id);
      this.#endReplaced();
    }
  }

  #validity(command: EdgeCommand, spentMs: number): { expires_at?: string } {
    const { clock, commandTimeoutMs } = this.#parts;
    const leftMs = validFor(command, commandTimeoutMs) - spentMs;
    const expiresAt = leftMs === Number.POSITIVE_INFINITY ? null : this.#edgeTime.at(clock.now() + leftMs);
    return expiresAt === null ? {} : { expires_at: expiresAt };
  }

  /** Undoes what a silent edge may have started; the edge reads this after the command. */
  #takeBack(command: EdgeCommand): void {
    if (command.kind === 'call.place') this.#stop(command.call_id);
    if (command.kind === 'test_call.run') this.#stop(command.test_call_id);
  }

  /** Sends a stop without waiting for the answer. */
  #stop(callId: string): void {
    this.#send({ type: 'command', id: newId(), command: { kind: 'call.stop', call_id: callId } });
  }

  replaced(): void {
    this.#isReplaced = true;
    this.#endReplaced();
  }

  #endReplaced(): void {
    if (this.#isReplaced && this.#commands.size === 0)
      this.close(closeCode.replaced, 'replaced by a newer connection');
  }

  /** Has the edge connect to another replica; the newer connection then replaces this one. */
  move(): void {
    if (this.#hello?.moves === true) this.#send({ type: 'move' });
    else this.close(closeCode.serviceRestart, 'the control plane is shutting down; connect again');
  }

  close(code: number, reason: string): void {
    if (this.#closed) return;
    this.#socket.close(code, reason);
    // A dead peer never completes the closing handshake; ws gives up after 30 s.
  }

  #receive(data: RawData, binary: boolean): void {
    this.#isSilent = false;
    this.#socket.pause();
    this.#work = this.#work
      .then(() => this.#handle(data, binary))
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, edge: this.edgeId }, 'edge frame could not be handled');
        this.close(closeCode.internalError, 'the control plane failed; connect again');
      })
      .finally(() => this.#socket.resume());
  }

  async #handle(data: RawData, binary: boolean): Promise<void> {
    if (this.#closed || !this.#canSend) return;
    const frame = binary ? 'a binary frame' : readFrame(data.toString());
    if (typeof frame === 'string') return this.#refuse(frame);
    if (frame.type === 'hello') return this.#open(frame);
    if (frame.type === 'newer') return this.#ignore(frame.name);
    const source = this.#source;
    if (!source) return this.#refuse(`${frame.type} before hello`);
    switch (frame.type) {
      case 'report':
        return this.#store(source, frame.reports);
      case 'applied':
        this.#applied = Math.max(this.#applied, frame.version);
        return this.#parts.sharedEdges.stateChanged(this);
      case 'result':
        return this.#settle(frame);
      case 'calls_held':
      case 'call_ask':
      case 'call_begun':
      case 'call_over':
        return this.#parts.fleet.counted(this, frame);
      case 'status':
        this.#parts.sightings.note(source.edgeId);
        return this.#heard(frame);
    }
  }

  /** A newer edge decides without an answer. */
  #ignore(type: string): void {
    if (this.#sentNewer) return;
    this.#sentNewer = true;
    this.#parts.log.warn(
      { edge: this.edgeId, type },
      'the edge sends frames that this control plane does not know: upgrade the control plane',
    );
  }

  #heard({ at, metrics }: Extract<Frame, { type: 'status' }>): void {
    const before = stateOf(this);
    this.#metrics = metrics;
    this.#ordered = 0;
    this.#edgeTime.note(at, this.#parts.clock.now());
    if (stateOf(this) !== before) this.#parts.edges.changed();
    this.#parts.sharedEdges.stateChanged(this);
  }

  async #open(hello: Hello): Promise<void> {
    if (this.#hello) return this.#refuse('a second hello');
    const { db, clock, config, reports, edges, fleet, log } = this.#parts;
    this.#edgeTime.note(hello.at, clock.now());
    const source = { edgeId: hello.edge_id, outboxId: hello.outbox_id };
    if (await hadOtherOutbox(db, hello)) await this.#parts.outboxLost(hello.edge_id);
    await rememberEdge(db, clock, hello);
    const acknowledged = await reports.acknowledged(source);
    // Subscribe before reading the snapshot, so that no change falls between the two.
    this.#stopListening = config.onChange(() => this.#later(() => this.#pushChange()));
    const snapshot = await config.snapshot(hello.edge_id);
    this.#plan = await planOf(db, hello.edge_id);
    // The last process may have died between a commit and its sync.
    await this.#parts.database.durable();
    if (this.#closed) return this.#stopListening();
    this.#hello = hello;
    this.#source = source;
    await this.#parts.sharedEdges.opened(this);
    if (this.#closed) {
      edges.remove(this);
      return this.#parts.sharedEdges.ended(this);
    }
    this.#timer.cancel();
    this.#keepAlive();
    const { revision } = edgeProtocol;
    this.#send({ type: 'welcome', acknowledged, ...(hello.fleet === true && { fleet: true }), revision });
    this.#send({ type: 'config', config: snapshot });
    this.#sentVersion = snapshot.version;
    log.info({ edge: hello.edge_id, acknowledged, config: snapshot.version }, 'edge connected');
    const its = comparedRevision(hello.revision);
    if (its !== 'same') log.warn({ edge: hello.edge_id, software: hello.software }, versionAdvice[its]);
    await fleet.connected(this);
  }

  async #store(source: ReportSource, reports: readonly SequencedReport[]): Promise<void> {
    const result = await this.#parts.reports.store(source, reports);
    const { acknowledged, stored, rejected, unwanted, learned, lost } = result;
    for (const callId of unwanted) {
      this.#parts.log.warn(
        { edge: source.edgeId, call_id: callId },
        'an unwanted call is still running; stopping it',
      );
      this.#stop(callId);
    }
    for (const problem of rejected)
      this.#parts.log.error({ edge: source.edgeId, problem }, 'report rejected');
    const { outdated, ...gone } = lost;
    if (gone.reports > 0 || gone.calls > 0)
      this.#parts.log.warn(
        { edge: source.edgeId, ...gone },
        'reports of an edge are lost; calls whose end was among them are closed',
      );
    if (outdated > 0)
      this.#parts.log.warn(
        { edge: source.edgeId, reports: outdated },
        'reports of trunks and registrations are not used: others have taken over since they were written',
      );
    this.#parts.onReports(stored, rejected.length);
    this.#parts.fleet.pass(learned);
    this.#acknowledge(acknowledged);
  }

  /**
   * The edge deletes what is acknowledged, so it must survive a loss of power first. The next frame is stored meanwhile;
   * syncs end in order, and so do the acknowledgements.
   */
  #acknowledge(seq: number): void {
    this.#parts.database.durable().then(
      () => this.#send({ type: 'ack', seq }),
      (error: unknown) => {
        this.#parts.log.error({ err: error, edge: this.edgeId }, 'reports are not durable');
        this.close(closeCode.internalError, 'the control plane failed; connect again');
      },
    );
  }

  /** Runs `work` after earlier frames, without delaying later ones. */
  #later(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#parts.log.error({ err: error, edge: this.edgeId }, 'configuration could not be sent');
      this.close(closeCode.internalError, 'the control plane failed; connect again');
    });
  }

  async #pushChange(): Promise<void> {
    if (this.#closed || !this.#source) return;
    const { config, db } = this.#parts;
    const { edgeId } = this.#source;
    const change = await config.changesSince(this.#sentVersion, edgeId);
    // Only with what the operator decides about this edge: a thousand edges get every other change, too.
    if (change.draining !== undefined) {
      this.#plan = await planOf(db, edgeId);
      this.#parts.edges.changed();
    }
    if (change.version <= this.#sentVersion) return;
    this.#send({ type: 'change', change });
    this.#sentVersion = change.version;
  }

  #settle({ id, ok, error, code }: Extract<Frame, { type: 'result' }>): void {
    const answer = this.#commands.get(id);
    if (ok) answer?.resolve();
    else if (code !== undefined && isApiErrorCode(code)) answer?.reject(ApiError.of(code, undefined, error));
    else answer?.reject(ApiError.unavailable(`The edge could not do it: ${error ?? 'no reason given'}.`, 5));
  }

  #keepAlive(): void {
    this.#timer = this.#parts.clock.after(pingEveryMs, () => {
      if (!this.#answersPing) {
        this.#parts.log.warn({ edge: this.edgeId }, 'edge is silent');
        this.#socket.terminate();
        return;
      }
      this.#answersPing = false;
      this.#socket.ping();
      this.#keepAlive();
    });
  }

  #refuse(problem: string): void {
    this.#parts.log.error({ edge: this.edgeId, problem }, 'edge broke the protocol');
    this.close(closeCode.policyViolation, problem.slice(0, 100));
  }

  #send(message: ControlToEdge): void {
    if (this.#canSend) this.#socket.send(JSON.stringify(message));
  }

  #ended(code: number, reason: string): void {
    this.#closed = true;
    this.#timer.cancel();
    this.#stopListening?.();
    for (const answer of this.#commands.values()) {
      answer.reject(new Unanswered('The edge was disconnected.'));
    }
    if (!this.#hello) return;
    this.#parts.edges.remove(this);
    this.#parts.sharedEdges.ended(this);
    this.#parts.log.info({ edge: this.edgeId, code, reason }, 'edge disconnected');
  }
}

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { SourcesByOwner } from '#shared/engine-protocol/lines.ts';
import { LogThinning } from '#shared/log-thinning.ts';
import { RoomyMap } from '#shared/roomy-map.ts';
import type { Log } from './core/context.ts';
import { DialogEnds } from './core/dialog-ends.ts';
import { HepSender, type HepTarget } from './core/hep-sender.ts';
import { Identity, type ListenAddress } from './core/identity.ts';
import { Refusals } from './core/refusals.ts';
import type { Session } from './core/session.ts';
import { TracedMessages } from './core/traced-messages.ts';
import { DialogTable } from './dialog/table.ts';
import type { SipCommand } from './drachtio-port/command.ts';
import { DrachtioPort, type PortSettings } from './drachtio-port/port.ts';
import type { FrameError } from './message/framing.ts';
import type { MessageLimits } from './message/limits.ts';
import type { SipMessage } from './message/message.ts';
import { answerableRequest, parseMessage } from './message/parse.ts';
import { validateResponse } from './message/validate.ts';
import { Core } from './methods/core.ts';
import { TransactionTable } from './transaction/table.ts';
import type { Flow } from './transport/flow.ts';
import { TransportLayer, type TransportOptions } from './transport/layer.ts';
import { Metrics } from './transport/metrics.ts';
import { RateLimit } from './transport/rate-limit.ts';

export interface StackOptions {
  readonly transport: TransportOptions;
  readonly publicHost: string | null;
  readonly port: PortSettings;
  readonly hep: HepTarget | null;
  readonly messages: MessageLimits;
  /** SIP requests per second and source address; requests above the limit are dropped silently. */
  readonly requestsPerSecond: number;
  /** Concurrent server transactions. */
  readonly maxTransactions: number;
}

export interface StackAddresses {
  readonly tls: ListenAddress;
  readonly wss: ListenAddress | null;
  readonly app: ListenAddress;
}

/**
 * The complete engine: transport, transactions, dialogs and the application port.
 *
 *                                      Core
 *     TLS, WSS -> parse -> requests  -> Uas ----------------> drachtio port -> application
 *                       -> responses -> transaction -> Uac ----^
 *     application -> drachtio port -> requests -> Uac -> transaction -> TLS, WSS
 *                                  -> responses -> Answers -> transaction --^
 */
export class Stack {
  readonly #options: StackOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics = new Metrics();
  readonly #hep: HepSender | null;
  readonly #traced: TracedMessages;
  readonly #transport: TransportLayer;
  readonly #transactions = new TransactionTable();
  readonly #sessions = new DialogTable<Session>();
  readonly #port: DrachtioPort;
  readonly #messages: MessageLimits;
  readonly #limit: RateLimit;
  readonly #refusals: Refusals;
  readonly #overRateLines = new LogThinning();
  readonly #refusedLines = new LogThinning();
  readonly #cutLines = new LogThinning();
  readonly #unreadableLines = new LogThinning();
  #core: Core | null = null;
  #identity: Identity | null = null;

  /**
   * @param refused receives the requests that the engine rejected itself: their number by source address
   * @throws what `transport.certificates` throws
   */
  constructor(
    options: StackOptions,
    clock: Clock,
    log: Log,
    refused: (sources: Record<string, number>) => void = () => {},
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    this.#hep = options.hep === null ? null : new HepSender(options.hep, this.#metrics, clock);
    this.#traced = new TracedMessages(this.#metrics, this.#hep, clock);
    this.#messages = options.messages;
    this.#limit = new RateLimit(options.requestsPerSecond);
    this.#refusals = new Refusals(clock, refused);
    this.#transport = new TransportLayer(
      options.transport,
      {
        message: (flow, bytes) => this.#received(flow, bytes),
        frameError: (flow, error) => this.#guard('broken stream', () => this.#broken(flow, error)),
        closed: (flow, loss) => {
          this.#guard('closed connection', () => this.#core?.flowClosed(flow, loss));
        },
        cut: ({ remoteAddress, outbound }, reason) => {
          const line = this.#cutLines.next(remoteAddress, clock.elapsed());
          if (line) log(outbound ? 'warn' : 'info', 'connection cut', { remoteAddress, reason, ...line });
        },
        refused: (remoteAddress, reason) => {
          const line = this.#refusedLines.next(remoteAddress, clock.elapsed());
          if (line) log('info', 'connection refused', { remoteAddress, reason, ...line });
        },
      },
      clock,
    );
    this.#port = new DrachtioPort(
      options.port,
      {
        execute: (command) => this.#execute(command),
        clientCame: () => this.#hep?.hurry(),
        clientGone: (client) => {
          this.#guard('application gone', () => this.#core?.clientGone(client));
        },
        hostports: () => this.#identity?.hostports() ?? { public: '', local: '' },
        log,
      },
      clock,
    );
  }

  /** Opens all listeners. @throws when one of them fails; call `close` then */
  async listen(): Promise<StackAddresses> {
    const bound = await this.#transport.listen();
    const { transport } = this.#options;
    const tls = { host: transport.tls.host, port: bound.tls.port };
    const wss = transport.wss && bound.wss ? { host: transport.wss.host, port: bound.wss.port } : null;
    const identity = new Identity(this.#options.publicHost, tls, wss);
    this.#identity = identity;
    this.#core = new Core({
      clock: this.#clock,
      identity,
      messages: this.#traced,
      transport: this.#transport,
      transactions: this.#transactions,
      sessions: this.#sessions,
      awaitingAck: new RoomyMap(),
      ends: new DialogEnds({ sessions: this.#sessions, metrics: this.#metrics, clock: this.#clock }),
      applications: this.#port,
      metrics: this.#metrics,
      refusals: this.#refusals,
      log: this.#log,
      maxTransactions: this.#options.maxTransactions,
    });
    const app = await this.#port.listen();
    return { tls, wss, app };
  }

  reloadCertificates(): void {
    this.#transport.reloadCertificates();
  }

  /** Peers can resume only sessions with tickets under these keys. */
  setTicketKeys(keys: Buffer): void {
    this.#transport.setTicketKeys(keys);
  }

  /** PEM of the certificate that peers get now. */
  get certificate(): string {
    return this.#transport.certificate;
  }

  /** Closes all inbound connections of `address` and accepts none from it for this long. */
  block(address: string, seconds: number): void {
    this.#transport.block(address, seconds * 1_000);
  }

  /** Sets the known sources. */
  setKnown(sources: SourcesByOwner): void {
    this.#transport.setKnown(sources);
  }

  /** Sets the networks in which peers may name private addresses. */
  setAllowedTargets(networks: BlockList): void {
    this.#transport.setAllowedTargets(networks);
  }

  /** The ids of all dialogs, for the application to compare with its own. */
  dialogs(): string[] {
    return this.#core?.dialogs() ?? [];
  }

  /** Ends dialogs that no call of the application owns. Unknown ids are ignored. */
  endDialogs(ids: readonly string[]): void {
    this.#guard('unowned dialogs', () => this.#core?.endDialogs(ids));
  }

  metrics(): Record<string, number> {
    const transport: Record<string, number> = {};
    for (const [name, value] of Object.entries(this.#transport.stats()))
      transport[`transport_${name}`] = value;
    return {
      ...this.#metrics.snapshot(),
      ...transport,
      client_transactions: this.#transactions.clientCount,
      server_transactions: this.#transactions.serverCount,
      dialogs: this.#sessions.size,
      applications: this.#port.clientCount,
    };
  }

  /** Applications first, so that they are not notified of connections that we close ourselves. */
  async close(): Promise<void> {
    await this.#port.close();
    await this.#transport.close();
    this.#refusals.close();
    this.#hep?.close();
  }

  #received(flow: Flow, bytes: Buffer): void {
    const result = parseMessage(bytes, this.#messages);
    const message = result.ok ? result.message : result.partial;
    this.#traced.received(flow, bytes, message?.headers ?? null);
    if (!result.ok) {
      this.#metrics.count('messages_malformed');
      if (result.partial && this.#admits(flow)) {
        const { status, reason } = result;
        const request = result.partial;
        this.#guard('malformed message', () => this.#core?.refuse(flow, request, { status, reason }));
      } else if (!result.partial) this.#unanswerable(flow, bytes, result.reason);
      return;
    }
    this.#guard(`message from ${flow.remoteAddress}`, () => this.#dispatch(flow, result.message, bytes));
  }

  /** Answers a request that cannot be fully read, and lets earlier requests get their responses. */
  #broken(flow: Flow, { partial, status, reason }: FrameError): void {
    this.#metrics.count('frame_errors');
    const request = answerableRequest(partial);
    if (request) this.#core?.refuse(flow, request, { status, reason });
    this.#core?.drain(flow, reason);
  }

  #dispatch(flow: Flow, message: SipMessage, bytes: Buffer): void {
    if (message.kind === 'request') {
      if (!this.#admits(flow)) return;
      try {
        this.#core?.request(flow, message);
      } catch (error) {
        this.#failed('request', error);
        this.#core?.refuse(flow, message, { status: 500, reason: 'Server Internal Error' });
      }
      return;
    }
    const fault = validateResponse(message);
    if (fault !== null) this.#unreadable(flow, fault);
    const awaited = fault === null && this.#core?.response(message, bytes) === true;
    if (!awaited) this.#metrics.count('responses_unmatched');
  }

  /** A malformed request that cannot be answered: closing the connection is the only feedback. */
  #unanswerable(flow: Flow, bytes: Buffer, reason: string): void {
    this.#unreadable(flow, reason);
    // A response, of SIP or of a middlebox: the connection stays usable.
    if (/^[a-z]{2,16}\/\d/i.test(bytes.toString('latin1', 0, 20))) return;
    this.#guard('unanswerable request', () => this.#core?.drain(flow, reason));
  }

  /**
   * A message that is neither answered nor delivered. On an outbound connection it may be the response that a
   * call waits for, so the log says what is wrong with it.
   */
  #unreadable({ remoteAddress, outbound }: Flow, reason: string): void {
    const line = this.#unreadableLines.next(remoteAddress, this.#clock.elapsed());
    if (!line) return;
    const text = 'unreadable message dropped';
    this.#log(outbound ? 'warn' : 'info', text, { remoteAddress, reason, ...line });
  }

  /** Whether another request from this source is within its rate limit. */
  #admits({ remoteAddress }: Flow): boolean {
    const now = this.#clock.elapsed();
    if (this.#limit.admit(remoteAddress, now)) return true;
    this.#metrics.count('requests_over_rate');
    const line = this.#overRateLines.next(remoteAddress, now);
    if (line)
      this.#log('warn', "requests above the source's rate limit are dropped", { remoteAddress, ...line });
    return false;
  }

  #execute(command: SipCommand): void {
    if (this.#core) this.#core.execute(command);
    else command.refuse('the engine is starting');
  }

  /** A bug triggered by one message must not end all other calls. */
  #guard(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed(what, error);
    }
  }

  #failed(what: string, error: unknown): void {
    this.#metrics.count('failures');
    const failure = error instanceof Error ? error : new Error(String(error));
    this.#log('error', `${what}: ${failure.message}`, { stack: failure.stack });
  }
}

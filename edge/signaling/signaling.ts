/** Signaling as the edge assembles it: one connection to the engine, and a dispatcher for its requests. */

import type { Clock } from '#shared/clock.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { LearnedRegistration } from '#shared/edge-protocol/fleet.ts';
import type { RefusedInvites as Refused } from '#shared/edge-protocol/refused.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';
import { LogThinning } from '#shared/log-thinning.ts';
import { plainAddress } from '#shared/networks.ts';
import type { AgentTestCalls } from '../call/agent-test-calls.ts';
import type { Log } from '../call/log.ts';
import type {
  DialEvents,
  Dialer,
  DialTarget,
  OutboundLeg as Leg,
  OutboundInvite,
} from '../call/ports/dialing.ts';
import { DigestGate } from './admission/digest/digest-gate.ts';
import { blockDue } from './admission/inbound.ts';
import type { CallAcceptor, InboundDeps, Routing } from './admission/incoming-invite.ts';
import { OutsideRequests } from './admission/outside-requests.ts';
import { PhoneGate, type PhoneSetUp } from './admission/phone/phone-gate.ts';
import { RefusedInvites } from './admission/refused-invites.ts';
import { RefusedRecords } from './admission/refused-records.ts';
import { mayReplace } from './admission/replacing.ts';
import { resolveSource, SourceHosts } from './admission/source-hosts.ts';
import { hostsOf, SourceIndex } from './admission/sources.ts';
import { type StrangerLimits, Strangers } from './admission/strangers.ts';
import { LegDialer } from './invite/leg-dialer.ts';
import { LoopbackDialer } from './invite/loopback-dialer.ts';
import { type ProbeOutcome, probe } from './options-prober.ts';
import type { RegistrarAccess } from './registration/registrar-access.ts';
import { Registrations } from './registration/registrations.ts';
import { type DialogOwner, Dialogs } from './session/dialogs.ts';
import { Reconciliation } from './session/reconciliation.ts';
import { EngineLink } from './srf/connect.ts';
import { type Environment, type ReferSettings, referTimes, type SessionSettings } from './srf/environment.ts';
import { type Exchange, exchangeOver } from './srf/exchange.ts';
import { NumberIndex } from './srf/numbers.ts';
import type { EngineAddress, SrfRequest, SrfResponse } from './srf/srf.ts';

export interface SignalingOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly calls: CallAcceptor;
  /** `host:port` under which peers reach us, IPv6 in brackets; null: the engine uses each connection's address. */
  readonly publicAddress: string | null;
  /** Name and version, for Server and User-Agent. */
  readonly software: string;
  readonly session: SessionSettings;
  readonly strangers: StrangerLimits;
  /** Counts rejected requests by reason; `silenced` are those that got no answer. */
  readonly refused: (reason: string) => void;
  /** Reports refused INVITEs; `isReady`: whether control would get them now. Absent: nothing is reported. */
  readonly refusedInvites?: {
    readonly isReady: () => boolean;
    readonly report: (refused: Refused[]) => void;
  };
  /** Default: 180 s for the peer's, 60 s between two NOTIFYs for ours. */
  readonly refers?: ReferSettings;
  /** Counts the outcomes of REFERs. */
  readonly countRefer?: Environment['countRefer'];
  /** ms after an outgoing INVITE without any response after which it is given up; default: contract 3.5. */
  readonly noResponseMs?: number;
  readonly random?: () => number;
  /** All addresses of a trunk's host; default: the system's. */
  readonly resolve?: ResolveHost;
  /** Calls of the edge to itself; absent: there are none. */
  readonly agentTestCalls?: AgentTestCalls;
  /** Absent: no browser may call. */
  readonly phones?: PhoneSetUp;
  /** Absent: nothing is registered. */
  readonly registrars?: RegistrarAccess;
  /** Called when the engine is connected (again) or lost. */
  readonly engineUp?: (up: boolean) => void;
}

/** How long resolved source hosts are used (contract 2.1). */
const sourceRefreshMs = 5 * 60_000;

/** Contract 3.5: the trigger `timeout`. */
const defaultNoResponseMs = 6_000;

const noPhones: PhoneSetUp = { edgeId: '', phonesOf: () => undefined, agentOf: () => undefined };

export class Signaling implements Dialer {
  readonly #options: SignalingOptions;
  readonly #environment: Environment;
  readonly #dialogs = new Dialogs((replaced, by) => mayReplace(this.#routing, replaced, by));
  readonly #reconciliation = new Reconciliation<DialogOwner>();
  readonly #strangers: Strangers;
  readonly #refusedInvites: RefusedInvites | undefined;
  readonly #hosts: SourceHosts;
  readonly #link: EngineLink;
  readonly #dialer: LegDialer;
  readonly #inbound: InboundDeps;
  readonly #outside: OutsideRequests;
  readonly #exchange: Exchange;
  readonly #registrations: Registrations | null;
  /** Absent unless the edge calls itself. */
  readonly loopback: LoopbackDialer | null;
  #routing: Routing | null = null;
  #wideReported: ReadonlyMap<string, string> = new Map();
  #sourcesChanged: (known: Readonly<Record<string, readonly string[]>>) => void = () => {};
  #embedded = true;
  /** Callbacks that wait for the engine. */
  readonly #waiting = new Set<() => void>();

  constructor(options: SignalingOptions) {
    const { clock, log, calls, publicAddress, software, session, refused } = options;
    this.#options = options;
    this.#environment = {
      engineIsEmbedded: () => this.#embedded,
      clock,
      log,
      random: options.random ?? Math.random,
      software,
      warnAgent: publicAddress ?? 'trunkline',
      publicAddress,
      session,
      refers: options.refers ?? referTimes,
      countRefer: options.countRefer ?? (() => {}),
    };
    this.#strangers = new Strangers(clock, options.strangers);
    this.#hosts = new SourceHosts({
      clock,
      log,
      resolve: options.resolve ?? ((host) => resolveSource(host)),
      refreshMs: sourceRefreshMs,
      changed: () => this.#indexSources(),
    });
    const digest = new DigestGate(clock, new Strangers(clock, options.strangers));
    this.#refusedInvites =
      options.refusedInvites &&
      new RefusedInvites({
        ...options.refusedInvites,
        clock,
        hasAuthenticated: (source) => digest.sources.has(source),
        leftOut: () => refused('not_reported'),
      });
    this.#inbound = {
      environment: this.#environment,
      dialogs: this.#dialogs,
      calls,
      strangers: this.#strangers,
      digest,
      phones: new PhoneGate(clock, options.phones ?? noPhones),
      refusedRecords: new RefusedRecords(clock),
      refusedInvites: this.#refusedInvites,
      refusedLines: new LogThinning(),
      routing: () => this.#routing,
      isBoundAt: (trunkId, address) => this.#registrations?.isBoundAt(trunkId, address) ?? false,
      refused,
      agentTestCalls: options.agentTestCalls,
    };
    this.#outside = new OutsideRequests(this.#inbound);
    this.#link = new EngineLink({
      clock,
      log,
      handle: (request, response) => this.#receive(request, response),
      tooLong: () => refused('frame'),
      onUp: ({ embedded }) => {
        this.#embedded = embedded;
        for (const goOn of [...this.#waiting]) goOn();
        this.#registrations?.engineUp();
        options.engineUp?.(true);
      },
      onDown: () => this.#engineLost(),
    });
    const noResponseMs = options.noResponseMs ?? defaultNoResponseMs;
    this.#dialer = new LegDialer({
      environment: this.#environment,
      dialogs: this.#dialogs,
      request: (request, sent) => this.#link.request(request, sent),
      noResponseMs,
    });
    this.loopback = options.agentTestCalls
      ? new LoopbackDialer(this.#environment, { clock, log, noResponseMs })
      : null;
    this.#exchange = exchangeOver(clock, (request, sent) => this.#link.request(request, sent));
    this.#registrations = options.registrars ? this.#registrationsAt(options.registrars) : null;
  }

  #registrationsAt({ resolve, ...access }: RegistrarAccess): Registrations {
    return new Registrations({
      ...access,
      environment: this.#environment,
      exchange: this.#exchange,
      resolve: async (host, port) => {
        const resolution = await resolve(host, port);
        // A registrar that has moved may call from the address just resolved.
        if (resolution.ok)
          this.#hosts.learn(
            host,
            resolution.targets.flatMap(({ address }) => address ?? []),
          );
        return resolution;
      },
    });
  }

  /** Whether the engine sends us requests. */
  get up(): boolean {
    return this.#link.up;
  }

  /** Whether the edge can call itself over its engine. */
  get callsItself(): boolean {
    return this.loopback !== null && this.#embedded;
  }

  /** Dialogs held by the engine and by us. */
  get dialogs(): number {
    return this.#dialogs.size + (this.loopback?.dialogs ?? 0);
  }

  connect(address: EngineAddress): void {
    this.#link.connect(address);
    this.loopback?.connect(address);
  }

  /** Checks calls against this configuration from now on; established calls are unaffected. */
  configure(config: EdgeConfig): void {
    this.#routing = {
      config,
      numbers: new NumberIndex(config.numbers),
      sources: new SourceIndex(config, this.#hosts.addresses),
    };
    const { unreadable } = this.#routing.sources;
    if (unreadable.length > 0) {
      this.#options.log.warn({ entries: unreadable }, 'invalid allowed addresses ignored');
    }
    this.#reportWide(this.#routing.sources.wide);
    this.#sourcesChanged(this.#routing.sources.knownEntries);
    this.#hosts.follow(hostsOf(config));
    this.#registrations?.follow(config.numbers);
  }

  /** Numbers that list very wide networks. */
  get wideNumbers(): number {
    return this.#routing?.sources.wide.size ?? 0;
  }

  /** Logged once for each number and list, not with every configuration. */
  #reportWide(wide: ReadonlyMap<string, readonly string[]>): void {
    for (const [number, networks] of wide) {
      if (this.#wideReported.get(number) === networks.join()) continue;
      this.#options.log.warn(
        { number, networks },
        'a number accepts calls from a very wide network; "trunkline admin sip wide" shows whether its organization may',
      );
    }
    this.#wideReported = new Map([...wide].map(([number, networks]) => [number, networks.join()]));
  }

  /**
   * @param listener gets the sources that the configuration names, now and on every change: addresses and CIDR blocks
   * by organization id
   */
  watchSources(listener: (known: Readonly<Record<string, readonly string[]>>) => void): void {
    this.#sourcesChanged = listener;
    listener(this.#routing?.sources.knownEntries ?? {});
  }

  /** Places a call. Failures, including that of the engine, are reported as events. */
  dial(target: DialTarget, invite: OutboundInvite, events: DialEvents): Leg {
    return this.#dialer.dial(target, invite, events);
  }

  /**
   * Checks a target with OPTIONS. Never rejects.
   * @param timeoutMs for the whole probe, including the wait for an engine that is not connected yet
   */
  async probe(target: DialTarget, timeoutMs: number): Promise<ProbeOutcome> {
    if (!this.#link.up) await this.#engineUp(timeoutMs);
    return probe({ environment: this.#environment, exchange: this.#exchange }, target, timeoutMs);
  }

  /** Resolves when the engine is connected, or after `timeoutMs`. */
  #engineUp(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#waiting.delete(done);
        resolve();
      };
      const timer = this.#environment.clock.after(timeoutMs, done);
      this.#waiting.add(done);
    });
  }

  /**
   * Counts requests that the engine rejected itself.
   * @returns seconds for which the engine must block the source, 0: not at all
   */
  refusedByEngine(address: string, times: number): number {
    const source = plainAddress(address);
    if (this.#routing === null || this.#strangers.isBlocked(source)) return 0;
    this.#options.refused('engine');
    return blockDue({ deps: this.#inbound, source, proxied: false, routing: this.#routing }, times);
  }

  /**
   * Compares the engine's dialogs with ours: calls whose dialogs are lost end.
   * @param engine ids of all dialogs of the engine
   * @returns ids of those that no call owns: the engine must end them
   */
  reconcile(engine: readonly string[]): readonly string[] {
    if (!this.up) return [];
    const ours = [...this.#dialogs.entries(), ...(this.loopback?.entries() ?? [])];
    const { lost, unowned } = this.#reconciliation.compare(engine, ours);
    const { log } = this.#options;
    if (lost.length > 0)
      log.warn({ dialogs: lost.length }, 'the SIP engine has lost dialogs: their calls end');
    if (unowned.length > 0) log.warn({ dialogs: unowned }, 'dialogs without a call: ending them with BYE');
    for (const owner of lost) owner.unknown();
    return unowned;
  }

  /** By Prometheus name. */
  metrics(): Record<string, number> {
    return this.#registrations?.metrics() ?? {};
  }

  /**
   * Tries the registration of a record now; its outcome is reported with `orderId`.
   * @throws Error when there is nothing to try
   */
  register(trunkId: string, orderId: string): void {
    if (!this.#registrations) throw new Error('registration is not enabled on this edge');
    this.#registrations.tryNow(trunkId, orderId);
  }

  /** The fleet has changed: this edge takes over registrations, or hands them over. @param isBack see Registrations */
  reassigned(isBack: boolean): void {
    this.#registrations?.reassigned(isBack);
  }

  /** Other edges have reported their registrations. */
  learned(registrations: readonly LearnedRegistration[]): void {
    this.#registrations?.learned(registrations);
  }

  /** Resolves when other edges have taken over all registrations, at the latest after `ms`. */
  async handedOver(ms: number): Promise<void> {
    await this.#registrations?.handedOver(ms);
  }

  /**
   * Removes our bindings at all registrars, so that they send no more calls. Takes at most the timeout of one
   * request.
   */
  async unregister(): Promise<void> {
    await this.#registrations?.end();
  }

  /** Disconnects from the engine. Live calls should have ended by now. */
  async close(): Promise<void> {
    const refusalsKept = this.#registrations?.close();
    this.#hosts.close();
    this.#refusedInvites?.close();
    this.#link.close();
    this.loopback?.close();
    for (const giveUp of [...this.#waiting]) giveUp();
    this.#dialogs.abandonAll();
    await refusalsKept;
  }

  #indexSources(): void {
    const routing = this.#routing;
    if (!routing) return;
    const sources = new SourceIndex(routing.config, this.#hosts.addresses);
    this.#routing = { ...routing, sources };
    this.#sourcesChanged(sources.knownEntries);
  }

  #engineLost(): void {
    this.#options.engineUp?.(false);
    this.#registrations?.engineLost();
    this.#reconciliation.forget();
    this.#dialogs.abandonAll();
    this.#options.calls.endAll({ code: 'engine_lost', detail: null });
  }

  #receive(request: SrfRequest, response: SrfResponse): void {
    const owner = this.#dialogs.find(request.stackDialogId);
    if (owner) owner.receive(request, response);
    else this.#outside.receive(request, response);
  }
}

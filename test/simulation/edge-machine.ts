/** The machine of the edge: real engine, signaling, calls, trunks and reporting on the world's clock and network. */
import type { Clock } from '#shared/clock.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId, newTimedId } from '#shared/ids.ts';
import { createAgents } from '../../edge/agent/agents.ts';
import { Calls } from '../../edge/call/calls.ts';
import { OutboundLimits } from '../../edge/call/limits.ts';
import { carryOut } from '../../edge/commands.ts';
import { CurrentConfig } from '../../edge/current-config.ts';
import { parseConfiguration, stackOptions } from '../../edge/engine/configuration.ts';
import { Stack } from '../../edge/engine/stack.ts';
import { ProbeReports } from '../../edge/probe-reports.ts';
import { Reporting } from '../../edge/reporting/reporting.ts';
import { outboundHeaders } from '../../edge/signaling/invite/header-mapping.ts';
import { Signaling } from '../../edge/signaling/signaling.ts';
import { failoverMemory } from '../../edge/trunks/failover-store.ts';
import { Trunks } from '../../edge/trunks/trunks.ts';
import { ruleModels } from '../kit/edge/agent.ts';
import { FakeDns } from '../kit/edge/trunks.ts';
import { QuietLog } from '../kit/fakes/quiet-log.ts';
import { journalFiles } from './journal.ts';
import { SimVoice } from './keys.ts';
import { controlHost, loopback, machine, type SimNetwork } from './network.ts';
import type { Random } from './random.ts';
import { MachineClock, type SimTime } from './time.ts';
import { SimAgents, SimMedia } from './voice.ts';

export const sipPort = 5061;
const appPort = 9022;
/** Concurrent calls of the edge: few, so that the limit is reached. */
export const maxCalls = 10;

/** The edge's defaults, except pauses that must end within the world. */
const registration = {
  perSecond: 50,
  timeoutMs: 8_000,
  keepaliveMs: 30_000,
  retryMs: 5_000,
  retryMaxMs: 40_000,
  refusedPauseMs: 40_000,
};

export interface EdgeSite {
  readonly time: SimTime;
  readonly network: SimNetwork;
  readonly random: Random;
  /** Outbox and kept configuration of this process; the next one gets a copy of their final state. */
  readonly folder: string;
  /** PEM files; nothing checks them. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly controlUrl: string;
  readonly edgeToken: string;
  readonly wallClockOffset: number;
  /** Transfer target of agents. */
  readonly transferTo: () => string;
  /** A report is on disk. */
  readonly written: (body: ReportBody) => void;
}

/** The process crashes between two writes. */
export class Died extends Error {}

export class EdgeMachine {
  readonly clock: MachineClock;
  readonly media: SimMedia;
  readonly agents: SimAgents;
  readonly calls: Calls;
  readonly signaling: Signaling;
  readonly log = new QuietLog();
  readonly engineLog: { level: string; message: string; fields: object | undefined }[] = [];
  readonly #site: EdgeSite;
  readonly #reporting: Reporting;
  readonly #trunks: Trunks;
  readonly #probes: ProbeReports;
  #engineClock: MachineClock;
  engine: Stack;
  engineRestarts = 0;
  alive = true;
  readonly #death = Promise.withResolvers<void>();
  /** Set: the process crashes at the next write, before or after it. */
  dieAtWrite: 'before' | 'after' | null = null;

  static async start(site: EdgeSite): Promise<EdgeMachine> {
    const clock = new MachineClock(site.time, site.wallClockOffset);
    let edge: EdgeMachine | null = null;
    const reporting = await Reporting.open({
      dataDir: site.folder,
      outboxFiles: journalFiles,
      clock,
      controlUrl: site.controlUrl,
      edgeToken: site.edgeToken,
      facts: {
        software: 'Trunkline/simulated',
        sip: { host: machine, port: sipPort },
        rtp: { ip: machine, port_min: 10_000, port_max: 10_100 },
        codecs: ['PCMU', 'PCMA', 'Opus'],
      },
      log: () => {},
      onConfig: (config) => edge?.configure(config),
      onCommand: async (command) => {
        if (edge) await edge.command(command);
      },
      metrics: () => ({}),
    });
    edge = new EdgeMachine(site, clock, reporting);
    if (reporting.config) edge.configure(reporting.config);
    await edge.engine.listen();
    edge.signaling.connect({ host: loopback, port: appPort, secret: 's' });
    reporting.start();
    return edge;
  }

  readonly #current = new CurrentConfig();

  private constructor(site: EdgeSite, clock: MachineClock, reporting: Reporting) {
    const { random } = site;
    const { log } = this;
    this.#site = site;
    this.clock = clock;
    this.#reporting = reporting;
    this.media = new SimMedia(random, clock);
    const pathways = createAgents({
      pathways: this.#current.pathway,
      organization: this.#current.organization,
      models: ruleModels,
      tts: new SimVoice(random, clock),
      stt: null,
      clock,
      log,
      newId,
      allowedTargets: this.#current.allowedTargets,
    });
    this.agents = new SimAgents(random, clock, { transferTo: site.transferTo, pathways });
    this.calls = new Calls({
      clock,
      media: this.media,
      agents: this.agents,
      reporter: { report: (body) => this.#report(body) },
      log,
      newId: () => newTimedId(clock.now()),
      maxCalls,
      settings: { ringAfterMs: 500, prepareTimeoutMs: 10_000, mediaTimeoutMs: 60_000 },
      outbound: {
        routes: {
          hunt: (...call) => this.#trunks.hunt(...call),
          referTarget: (...target) => this.#trunks.referTarget(...target),
          followable: (...refer) => this.#trunks.followable(...refer),
        },
        dialer: { dial: (...attempt) => this.signaling.dial(...attempt) },
        headersOf: (mappings, variables) => outboundHeaders(mappings, variables).headers,
        ringTimeoutMs: 30_000,
      },
      limits: new OutboundLimits({
        clock,
        log,
        organization: (orgId) => this.#current.organization(orgId)?.call_limits,
        number: (number) => this.#current.number(number)?.call_limits,
        refused: () => {},
      }),
    });
    this.signaling = new Signaling({
      clock,
      log,
      calls: this.calls,
      publicAddress: null,
      software: 'Trunkline/simulated',
      session: { expiresS: 240, minS: 90 },
      refers: { subscriptionMs: 60_000, outcomeMs: 30_000 },
      strangers: { tries: 1_000_000, windowS: 60, blockS: 1, maxSources: 10 },
      refused: () => {},
      random: () => random.next(),
      resolve: async (host) => [host],
      engineUp: (up) => this.#trunks.engineUp(up),
      registrars: {
        resolve: (host, port) => this.#trunks.resolve(host, port),
        report: (trunkId, state, orderId) =>
          this.#report({
            type: 'registration',
            trunk_id: trunkId,
            ...(orderId !== undefined && { order_id: orderId }),
            ...state,
          }),
        settings: registration,
      },
    });
    this.#probes = new ProbeReports(clock, (body) => this.#report(body));
    this.#trunks = new Trunks({
      clock,
      random: () => random.next(),
      store: failoverMemory(),
      dns: new FakeDns({}),
      allowed: this.#current.allowedTargets,
      ca: [],
      prober: this.signaling,
      report: (probe) => this.#probes.add(probe),
      moved: (move) => this.#probes.moved(move.trunkId, move.to),
    });
    this.#engineClock = new MachineClock(site.time);
    this.engine = this.#newEngine(this.#engineClock);
  }

  get connected(): boolean {
    return this.#reporting.connected;
  }

  /** Reports that control has not acknowledged. */
  get unreported(): number {
    return this.#reporting.metrics().trunkline_edge_outbox_pending ?? 0;
  }

  get engineTimers(): number {
    return this.#engineClock.pending;
  }

  configure(config: EdgeConfig): void {
    this.#current.apply(config);
    this.signaling.configure(config);
    this.#trunks.configure(config.numbers);
  }

  async command(command: Parameters<typeof carryOut>[0]): Promise<void> {
    await carryOut(command, {
      calls: this.calls,
      trunks: this.#trunks,
      signaling: this.signaling,
      phoneAgents: { expect: () => {} },
      testCall: () => {},
      testRun: async () => {},
      report: (body) => this.#report(body),
    });
  }

  /** Only the engine crashes, and the edge restarts it. */
  async restartEngine(): Promise<void> {
    this.engineRestarts++;
    this.#engineClock.die();
    const { port: hepPort } = this.#reporting.hep;
    this.#site.network.kill(machine, ({ remoteAddress }) => remoteAddress !== controlHost);
    this.#site.network.kill(
      loopback,
      ({ localPort, remotePort }) => localPort === appPort || remotePort === hepPort,
    );
    this.#engineClock = new MachineClock(this.#site.time);
    this.engine = this.#newEngine(this.#engineClock);
    await this.engine.listen();
    this.signaling.connect({ host: loopback, port: appPort, secret: 's' });
  }

  /** Power off: nothing runs anymore, and no later process reads what this one may still write (see `folder`). */
  die(): void {
    this.alive = false;
    this.#death.resolve();
    this.clock.die();
    this.#engineClock.die();
    this.#site.network.kill(machine);
    this.#site.network.kill(loopback);
  }

  /** Shuts down cleanly, or crashes meanwhile. */
  stop(): Promise<void> {
    return Promise.race([this.#stop(), this.#death.promise]);
  }

  async #stop(): Promise<void> {
    const unregistered = this.signaling.unregister();
    await this.calls.drain(20_000);
    await unregistered;
    this.#trunks.close();
    this.#probes.flush();
    this.signaling.close();
    await this.engine.close();
    await this.#reporting.close();
    this.alive = false;
  }

  #newEngine(clock: Clock): Stack {
    const { cert, key, ca } = this.#site.tls;
    const configuration = {
      tls: { host: '0.0.0.0', port: sipPort, cert, key },
      wss: null,
      publicHost: null,
      app: { host: loopback, port: appPort, secret: 's' },
      clientTls: { ca, folder: null },
      hep: this.#reporting.hep,
      limits: {},
    };
    return new Stack(
      stackOptions(parseConfiguration(JSON.stringify(configuration))),
      clock,
      (level, message, fields) => this.engineLog.push({ level, message, fields }),
    );
  }

  #report(body: ReportBody): void {
    if (!this.alive) throw new Died('the edge is dead');
    if (this.dieAtWrite === 'before') {
      this.die();
      throw new Died('the edge died before a write');
    }
    this.#reporting.report(body);
    this.#site.written(body);
    if (this.dieAtWrite === 'after') {
      this.die();
      throw new Died('the edge died after a write');
    }
  }
}

/**
 * The edge, put together from its parts.
 *
 *     settings -> media, reporting -> calls -> signaling <- engine
 *
 * `start` resolves when calls are taken. `stop` drains: new INVITEs and OPTIONS get 503, running calls end or
 * time out, then the engine, media and reporting are closed in this order, so that the last messages of the
 * last call are still reported.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { systemClock } from '#shared/clock.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { newId } from '#shared/ids.ts';
import { Flite } from '#shared/models/flite.ts';
import { createModels } from '#shared/models/models.ts';
import { OpenAiSpeechToText, OpenAiTextToSpeech } from '#shared/models/openai-speech.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { SpeechCache } from '#shared/models/speech-cache.ts';
import { type AgentsDeps, createAgents } from './agent/agents.ts';
import { createToolClient } from './agent/tool-client.ts';
import { Calls } from './call/calls.ts';
import { OutboundLimits } from './call/limits.ts';
import { TestVisits } from './call/test-visits.ts';
import { carryOut } from './commands.ts';
import { certificates, controlAddress, type EdgeSettings } from './config.ts';
import { CurrentConfig } from './current-config.ts';
import { EngineProcess } from './engine-process.ts';
import { hostPort, localAddress } from './local-address.ts';
import type { EdgeLog } from './log.ts';
import { lookForLibrariesIn } from './media/codec/library.ts';
import { createMedia, type RunningMedia } from './media/media.ts';
import { Metrics } from './metrics.ts';
import { nearbyMedia } from './nearby-media.ts';
import { ownTarget } from './own-address.ts';
import { ProbeReports } from './probe-reports.ts';
import { openReporting, type Reporting } from './reporting/reporting.ts';
import { outboundHeaders } from './signaling/header-mapping.ts';
import { Signaling } from './signaling/signaling.ts';
import { resolveSource } from './signaling/source-hosts.ts';
import { runOverCall, type TestRunOrder } from './test-calls.ts';
import { NodeDns } from './trunks/dns.ts';
import { runTestCall, type TestCallOrder } from './trunks/test-call/test-call.ts';
import { Trunks } from './trunks/trunks.ts';

const clock = systemClock;
/** Bytes of synthesized speech that are kept. */
const speechCacheBytes = 64 * 1024 * 1024;
/** A name server that is silent for so long is asked again, or the next one is, ms. */
const dnsTimeoutMs = 2_000;
const dnsTries = 2;
/** After the last call: how long its BYE may wait for an answer, ms. */
const lingerMs = 2_000;

export class Edge {
  readonly #settings: EdgeSettings;
  readonly #log: EdgeLog;
  readonly #media: RunningMedia;
  readonly #speech: TextToSpeech;
  readonly #reporting: Reporting;
  readonly #calls: Calls;
  readonly #signaling: Signaling;
  readonly #trunks: Trunks;
  readonly #probes: ProbeReports;
  readonly #engine: EngineProcess | null;

  private constructor(
    settings: EdgeSettings,
    log: EdgeLog,
    parts: {
      media: RunningMedia;
      speech: TextToSpeech;
      reporting: Reporting;
      calls: Calls;
      signaling: Signaling;
      trunks: Trunks;
      probes: ProbeReports;
      engine: EngineProcess | null;
    },
  ) {
    this.#settings = settings;
    this.#log = log;
    this.#media = parts.media;
    this.#speech = parts.speech;
    this.#reporting = parts.reporting;
    this.#calls = parts.calls;
    this.#signaling = parts.signaling;
    this.#trunks = parts.trunks;
    this.#probes = parts.probes;
    this.#engine = parts.engine;
  }

  /** @throws Error that says which setting or part does not work, and what to do */
  static async start(settings: EdgeSettings, log: EdgeLog, software: string): Promise<Edge> {
    // Another engine has certificates of its own.
    if (!settings.drachtio) await certificates(settings);
    const { controlUrl, edgeToken } = await controlAddress(settings);
    const { sip, rtp } = settings;
    const publicIp = rtp.publicIp ?? localAddress(rtp.host);
    lookForLibrariesIn(settings.media.codecLibraries);
    const media = await createMedia({
      listenIp: rtp.host,
      publicIp,
      portMin: rtp.portMin,
      portMax: rtp.portMax,
      workerBin: settings.media.workerBin,
      acceptUnmarkedWorker: settings.media.acceptUnmarked,
      ...(settings.media.workers === null ? {} : { workers: settings.media.workers }),
      log,
    });
    const privateAuthority = settings.tls.ca === null ? null : readFileSync(settings.tls.ca, 'utf8');
    const metrics = new Metrics();
    const current = new CurrentConfig();
    const { speech, stt } = speechOf(settings);
    const onConfig = (config: EdgeConfig): void => {
      current.apply(config);
      signaling.configure(config);
      trunks.configure(config.numbers);
      log.info({ version: config.version, numbers: config.numbers.length }, 'configuration applied');
    };
    const reporting = await openReporting({
      dataDir: settings.dataDir,
      clock,
      controlUrl,
      edgeToken,
      hep: settings.hep,
      facts: {
        software,
        sip: { host: sip.publicHost ?? localAddress(sip.host), port: sip.port },
        rtp: { ip: publicIp, port_min: rtp.portMin, port_max: rtp.portMax },
        codecs: media.availableCodecs(),
      },
      log: (level, message, facts) => log[level](facts ?? {}, message),
      onConfig,
      onCommand: (command) =>
        carryOut(command, { calls, trunks, testCall, testRun, report: (body) => reporting.report(body) }),
      metrics: () => ({
        ...metrics.snapshot(),
        ...trunks.metrics(),
        ...signaling.metrics(),
        ...models.metrics('trunkline_edge_'),
        ...engineMetrics(engine),
      }),
    });
    const models = createModels(settings.models, { clock, random: Math.random });
    const agentDeps: AgentsDeps = {
      pathways: current.pathway,
      organization: current.organization,
      models,
      tools: createToolClient({ controlUrl, edgeToken, clock }),
      tts: speech,
      stt,
      clock,
      log,
      newId,
      allowedTargets: current.allowedTargets,
      talkLimits: { greetingMs: settings.agent.greetingMs },
      consultLimits: { acceptWithinMs: settings.agent.acceptWithinMs },
      answeringLimits: settings.agent.voicemail,
      answered: (who) => metrics.count('trunkline_edge_answered_by_total', { who }),
      ...(privateAuthority === null ? {} : { ca: [...rootCertificates, privateAuthority] }),
    };
    const agents = createAgents(agentDeps);
    const testVisits = new TestVisits(clock);
    const calls: Calls = new Calls({
      clock,
      media,
      agents,
      reporter: reporting,
      log,
      newId,
      maxCalls: settings.maxCalls,
      settings: settings.call,
      outbound: {
        routes: {
          hunt: (...call) => trunks.hunt(...call),
          referTarget: (...target) => trunks.referTarget(...target),
          reachableOver: (...target) => trunks.reachableOver(...target),
        },
        dialer: { dial: (...attempt) => signaling.dial(...attempt) },
        headersOf: (mappings, variables) => outboundHeaders(mappings, variables).headers,
        followRefer: settings.call.followRefer,
        ringTimeoutMs: settings.trunks.ringTimeoutMs,
      },
      limits: new OutboundLimits({
        clock,
        log,
        organization: (orgId) => current.organization(orgId)?.call_limits,
        number: (number) => current.number(number)?.call_limits,
        refused: (reason) => metrics.count('trunkline_edge_outbound_refused_total', { reason }),
      }),
      onEnded: (termination, answered) =>
        metrics.count('trunkline_edge_calls_total', { termination, answered: String(answered) }),
      onTransfer: (kind, outcome) =>
        metrics.count('trunkline_edge_transfers_total', {
          kind,
          outcome: outcome.ok ? 'ok' : outcome.code,
        }),
    });
    let engineUp: () => void = () => {};
    const ready = new Promise<void>((resolve) => {
      engineUp = resolve;
    });
    const signaling: Signaling = new Signaling({
      clock,
      log,
      calls,
      publicAddress: sip.publicHost === null ? null : hostPort(sip.publicHost, sip.port),
      software,
      session: settings.session,
      refers: settings.refers,
      countRefer: (from, outcome) => metrics.count('trunkline_edge_refers_total', { from, outcome }),
      strangers: settings.strangers,
      testVisits,
      refused: (reason) => metrics.count('trunkline_edge_refused_total', { reason }),
      engineUp: (up) => {
        trunks.engineUp(up);
        if (up) engineUp();
      },
      resolve: (host) => sourceAddresses(host, trunks),
      registrars: {
        resolve: (host, port) => trunks.resolve(host, port),
        report: (trunkId, state) => reporting.report({ type: 'registration', trunk_id: trunkId, ...state }),
        settings: settings.registration,
      },
    });
    const probes = new ProbeReports(clock, (body) => reporting.report(body));
    const trunks: Trunks = outboundTrunks(
      settings,
      log,
      current,
      signaling,
      probes,
      metrics,
      privateAuthority,
    );
    const testCall = (order: TestCallOrder): void =>
      runTestCall(order, {
        clock,
        calls,
        routes: trunks,
        dialer: { dial: (...attempt) => signaling.dial(...attempt) },
        media,
        agents,
        reporter: reporting,
        log,
      });
    const testRun = (order: TestRunOrder): Promise<void> =>
      runOverCall(order, {
        clock,
        log,
        controlUrl,
        calls,
        visits: testVisits,
        dialer: {
          dial: (...attempt) => {
            if (!signaling.own) throw new Error('signaling has no line of its own');
            return signaling.own.dial(...attempt);
          },
        },
        self: () => ownTarget(sip, sip.publicHost, readFileSync(settings.tls.cert, 'utf8')),
        media: nearbyMedia(media, publicIp, localAddress(rtp.host)),
        agents: agentDeps,
        limits: settings.testCalls,
        counts: {
          ended: (how) => metrics.count('trunkline_edge_test_calls_total', { how }),
          turnEnded: (by, cut) => {
            metrics.count('trunkline_edge_test_turns_total', { ended_by: by });
            if (cut) metrics.count('trunkline_edge_test_turns_cut_total');
          },
        },
        reporter: reporting,
        tts: speech,
        stt,
        newId,
      });
    if (reporting.config) onConfig(reporting.config);
    const unusable = Promise.withResolvers<never>();
    const engine = settings.drachtio
      ? null
      : embeddedEngine(settings, log, reporting, signaling, metrics, unusable.reject);
    const edge = new Edge(settings, log, {
      media,
      speech,
      reporting,
      calls,
      signaling,
      trunks,
      probes,
      engine,
    });
    measure(metrics, { media, calls, signaling });
    try {
      if (settings.drachtio) signaling.connect(settings.drachtio);
      else engine?.start();
      await Promise.race([ready, unusable.promise]);
      await speech.warm?.();
    } catch (error) {
      await edge.#close();
      throw error;
    }
    reporting.start();
    return edge;
  }

  /** Lets the engine take new certificate files for the connections to come. */
  reloadCertificates(): void {
    this.#engine?.reloadCertificates();
  }

  /** Ends the running calls now; for those who do not want to wait for the drain. */
  hurry(): void {
    this.#calls.endRemaining('The edge was stopped at once.');
  }

  async stop(): Promise<void> {
    this.#log.info({ calls: this.#calls.size }, 'draining');
    const unregistered = this.#signaling.unregister();
    await this.#calls.drain(this.#settings.drainTimeoutMs);
    await unregistered;
    await this.#dialogsGone();
    await this.#close();
    this.#log.info({}, 'stopped');
  }

  async #dialogsGone(): Promise<void> {
    const stepMs = 20;
    for (let waited = 0; this.#signaling.dialogs > 0 && waited < lingerMs; waited += stepMs) {
      await new Promise<void>((resolve) => clock.after(stepMs, resolve));
    }
  }

  async #close(): Promise<void> {
    this.#trunks.close();
    this.#probes.flush();
    this.#signaling.close();
    await this.#engine?.stop();
    await this.#media.close();
    await this.#speech.close();
    await this.#reporting.close();
  }
}

/** Where calls of a trunk's host may come from: what the machine knows of the host, and what calls to it use. */
async function sourceAddresses(host: string, trunks: Trunks): Promise<string[]> {
  const [known, used] = await Promise.allSettled([resolveSource(host), trunks.resolve(host, null)]);
  const addresses = new Set(known.status === 'fulfilled' ? known.value : []);
  if (used.status === 'fulfilled' && used.value.ok) {
    for (const { address } of used.value.targets) addresses.add(address);
  }
  if (addresses.size === 0 && known.status === 'rejected') throw known.reason;
  return [...addresses].sort();
}

function speechOf(settings: EdgeSettings): { speech: TextToSpeech; stt: SpeechToText | null } {
  const { tts, stt, voice } = settings;
  const voiceOut = tts ? new OpenAiTextToSpeech(tts, { voice: tts.voice }) : new Flite({ voice });
  return {
    speech: new SpeechCache(voiceOut, speechCacheBytes),
    stt: stt && new OpenAiSpeechToText(stt),
  };
}

function outboundTrunks(
  settings: EdgeSettings,
  log: EdgeLog,
  current: CurrentConfig,
  signaling: Signaling,
  probes: ProbeReports,
  metrics: Metrics,
  privateAuthority: string | null,
): Trunks {
  const { dnsServers, probes: health, failbackAfter, failoverAfter } = settings.trunks;
  return new Trunks({
    clock,
    random: Math.random,
    storePath: join(settings.dataDir, 'failover.db'),
    dns: new NodeDns({ servers: dnsServers, timeoutMs: dnsTimeoutMs, tries: dnsTries }),
    allowed: current.allowedTargets,
    ca: privateAuthority === null ? [] : [privateAuthority],
    prober: signaling,
    report: (probe) => probes.add(probe),
    moved: (move) => {
      log.warn({ trunk_id: move.trunkId, from: move.from, to: move.to, cause: move.cause }, 'trunk moves');
      metrics.count('trunkline_edge_trunk_moves_total', { cause: move.cause });
      probes.moved(move.trunkId, move.to);
    },
    health,
    failbackAfter,
    failoverAfter,
  });
}

function embeddedEngine(
  settings: EdgeSettings,
  log: EdgeLog,
  reporting: Reporting,
  signaling: Signaling,
  metrics: Metrics,
  unusable: (error: Error) => void,
): EngineProcess {
  const { sip, tls } = settings;
  const secret = randomBytes(24).toString('hex');
  const engine: EngineProcess = new EngineProcess({
    program: join(import.meta.dirname, 'engine', 'main.ts'),
    config: {
      tls: { host: sip.host, port: sip.port, cert: tls.cert, key: tls.key },
      wss: sip.wssPort === null ? null : { host: sip.host, port: sip.wssPort },
      publicHost: sip.publicHost,
      app: { host: '127.0.0.1', port: 0, secret },
      clientTls: { ca: tls.ca, folder: tls.clients },
      hep: reporting.hep,
      limits: settings.engineLimits,
    },
    clock,
    log,
    onReady: (app) => signaling.connect({ ...app, secret }),
    onRestart: () => metrics.count('trunkline_edge_engine_restarts_total'),
    onRefusals: (sources) => {
      for (const [address, times] of Object.entries(sources)) {
        const seconds = signaling.refusedByEngine(address, times);
        if (seconds > 0) engine.block(address, seconds);
      }
    },
    onUnusable: () => unusable(new Error('the SIP engine cannot start; its log line above says why')),
  });
  return engine;
}

function engineMetrics(engine: EngineProcess | null): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [name, value] of Object.entries(engine?.metrics ?? {}))
    values[`trunkline_engine_${name}`] = value;
  return values;
}

function measure(
  metrics: Metrics,
  { media, calls, signaling }: { media: RunningMedia; calls: Calls; signaling: Signaling },
): void {
  metrics.gauge('trunkline_edge_calls', () => calls.size);
  metrics.gauge('trunkline_edge_dialogs', () => signaling.dialogs);
  metrics.gauge('trunkline_edge_draining', () => Number(calls.draining));
  metrics.gauge('trunkline_edge_engine_up', () => Number(signaling.up));
  metrics.gauge('trunkline_edge_media_legs', () => media.stats().legs);
  metrics.gauge('trunkline_edge_rtp_ports_in_use', () => media.stats().ports.inUse);
  metrics.gauge('trunkline_edge_rtp_ports', () => media.stats().ports.total);
  metrics.gauge('trunkline_edge_media_worker_deaths_total', () => media.stats().workerDeaths);
  metrics.gauge('trunkline_edge_audio_frames_skipped_total', () => media.stats().skippedFrames);
}

/**
 * Builds the edge from its parts (start/).
 *
 *     settings -> media shards, reporting -> calls -> signaling <- engine
 *
 * `start` resolves when calls are accepted. `stop` drains: new INVITEs and OPTIONS get 503, live calls end or time out,
 * then the engine, media and reporting are closed in this order, so that the last messages of the last call are
 * still reported.
 */

import { zeroCounters } from '#shared/edge-metrics.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { collectGarbage, trimFreedPages } from '#shared/give-memory-back.ts';
import { Gate } from '#shared/models/gate.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { AgentTestCalls } from './call/agent-test-calls.ts';
import type { Calls } from './call/calls.ts';
import { carryOut } from './commands.ts';
import type { EdgeSettings } from './config.ts';
import type { EngineProcess } from './engine-process.ts';
import type { FleetView } from './fleet/fleet-view.ts';
import type { EdgeLog } from './log.ts';
import { addGauges, addUp, ownMetrics } from './metrics.ts';
import { ProbeReports } from './probe-reports.ts';
import type { RecordingUploads } from './reporting/recordings/uploads.ts';
import type { Reporting } from './reporting/reporting.ts';
import type { MediaShards } from './shards/media-shards.ts';
import { PhoneAgents } from './signaling/admission/phone/phone-agents.ts';
import type { Signaling } from './signaling/signaling.ts';
import { callsOf, outboundLimitsOf } from './start/calls.ts';
import { clock, createContext, type EdgeOptions } from './start/context.ts';
import { engineMetrics, engineOf } from './start/engine.ts';
import { fleetOf } from './start/fleet.ts';
import { shardsOf, TestMedia } from './start/media.ts';
import { recordingPlace, recordingsOf, uploadsOf } from './start/recordings.ts';
import { reportingOf } from './start/reporting.ts';
import { signalingOf } from './start/signaling.ts';
import { spokenIn } from './start/spoken.ts';
import { storesOf } from './start/stores.ts';
import { TestAgents } from './start/test-agents.ts';
import { testsOf } from './start/tests.ts';
import { trunksOf } from './start/trunks.ts';
import { voiceOf } from './start/voice.ts';
import type { Trunks } from './trunks/trunks.ts';

/** Time after the last call for the response to its BYE, ms. */
const lingerMs = 2_000;

/** How long a draining edge waits for others to take over its registrations, ms. */
const handOverMs = 5_000;

/** Time to speak what a supervisor tells a person, ms: control waits 5 s for the command. */
const whisperMs = 3_000;

interface EdgeParts {
  readonly settings: EdgeSettings;
  readonly log: EdgeLog;
  readonly media: MediaShards;
  readonly testMedia: TestMedia;
  readonly testAgents: TestAgents;
  readonly tts: TextToSpeech;
  readonly reporting: Reporting;
  readonly uploads: RecordingUploads;
  readonly calls: Calls;
  readonly signaling: Signaling;
  readonly trunks: Trunks;
  readonly probes: ProbeReports;
  readonly fleet: FleetView;
  /** null: the edge uses a foreign engine. */
  readonly engine: EngineProcess | null;
  readonly tracing: Tracing | null;
}

export class Edge {
  readonly #parts: EdgeParts;
  #stopped: Promise<void> | null = null;

  private constructor(parts: EdgeParts) {
    this.#parts = parts;
  }

  /** @throws Error that says which setting or part failed, and what to do */
  static async start(
    settings: EdgeSettings,
    log: EdgeLog,
    software: string,
    options: EdgeOptions = {},
  ): Promise<Edge> {
    const context = await createContext(settings, log, software, options);
    const { metrics, current } = context;
    const stores = await storesOf(context);
    const place = recordingPlace(context);
    const tts = voiceOf(context);
    const gate = new Gate(settings.models.concurrency, clock);
    const uploads = uploadsOf(context, place);
    const media = await shardsOf(context, { tts, gate }, place, uploads);
    const testMedia = new TestMedia(context, place);
    const testAgents = new TestAgents(context, tts, gate);
    const onConfig = (config: EdgeConfig): void => {
      current.apply(config);
      const { version, organizations, pathways, allowed_private_targets } = config;
      media.configure({ version, organizations, pathways, allowed_private_targets });
      signaling.configure(config);
      trunks.configure(config.numbers);
      if (calls.setOutOfService(config.draining === true)) {
        const message = config.draining ? 'draining: out of service until undrained' : 'back in service';
        log.info({ calls: calls.size }, message);
        reporting.sendStatus();
      }
      log.info({ version: config.version, numbers: config.numbers.length }, 'configuration applied');
    };
    const reporting = await reportingOf(context, media.availableCodecs(), {
      onConfig,
      onCommand: (command) =>
        carryOut(command, {
          calls,
          trunks,
          signaling,
          phoneAgents,
          ...tests,
          report: (body) => reporting.report(body),
        }),
      fleet: {
        welcomed: (control) => fleet.welcomed(control),
        receive: (frame) => fleet.receive(frame),
      },
      metrics: () => ({
        ...zeroCounters('trunkline_edge_'),
        ...trunks.metrics(),
        ...signaling.metrics(),
        ...addUp(metrics.snapshot(), testAgents.metrics(), media.metrics()),
        ...engineMetrics(engine),
        ...ownMetrics(),
      }),
    });
    await uploads.recover();
    const fleet = fleetOf(context, {
      clock,
      reporting,
      trunks: () => trunks,
      signaling: () => signaling,
      held: () => limits.held(),
    });
    const limits = outboundLimitsOf(context, fleet.counts);
    const agentTestCalls = new AgentTestCalls(clock);
    const phoneAgents = new PhoneAgents(clock);
    const calls: Calls = callsOf(context, {
      media,
      agents: media,
      reporter: reporting,
      drained: () => reporting.sendStatus(),
      limits,
      recordings: recordingsOf(context, tts),
      speak: (text, { plan }) => spokenIn(whisperMs, tts, text, plan.agent),
      // Who needs a voice that cannot be loaded is told why.
      voiceLoaded: async () => tts.warm?.().catch(() => undefined),
      routes: () => trunks,
      dialer: () => signaling,
    });
    const ready = Promise.withResolvers<void>();
    const signaling: Signaling = signalingOf(context, {
      calls,
      agentTestCalls,
      reporting,
      trunks: () => trunks,
      fleet,
      refusals: stores.refusals,
      phoneAgents,
      engineUp: (up) => {
        trunks.engineUp(up);
        reporting.sendStatus();
        if (up) ready.resolve();
      },
    });
    const probes = new ProbeReports(
      clock,
      (body) => reporting.report(body),
      () => fleet.view.epoch,
    );
    const trunks: Trunks = trunksOf(context, signaling, probes, fleet.probes, stores.failover);
    const tests = testsOf(context, {
      calls,
      agentTestCalls,
      trunks,
      signaling,
      media: testMedia,
      agents: media,
      testAgents,
      reporting,
    });
    if (reporting.config) onConfig(reporting.config);
    const unusable = Promise.withResolvers<never>();
    const engine = settings.drachtio ? null : engineOf(context, reporting, signaling, unusable.reject);
    if (engine) {
      signaling.watchSources((known) => engine.know(known));
      current.watchTargets((networks) => engine.allow(networks));
    }
    const edge = new Edge({
      settings,
      log,
      media,
      testMedia,
      testAgents,
      tts,
      reporting,
      uploads,
      calls,
      signaling,
      trunks,
      probes,
      fleet: fleet.view,
      engine,
      tracing: context.tracing,
    });
    addGauges(metrics, { media, testMedia, calls, maxCalls: settings.maxCalls, signaling });
    try {
      if (settings.drachtio) signaling.connect(settings.drachtio);
      else engine?.start();
      // Everything is loaded, and the engine takes longer than this pause.
      collectGarbage();
      await Promise.race([ready.promise, unusable.promise]);
      trimFreedPages();
    } catch (error) {
      await edge.#close();
      throw error;
    }
    reporting.start();
    uploads.start();
    return edge;
  }

  /** Makes the engine use new certificate files for new connections. */
  reloadCertificates(): void {
    this.#parts.engine?.reloadCertificates();
  }

  /** Current activity for a fault report, without caller data. */
  underWay(): Record<string, unknown> {
    const { calls, engine, signaling } = this.#parts;
    return {
      calls: calls.size,
      ...calls.underWay(),
      dialogs: signaling.dialogs,
      engine: engine?.pid ?? null,
    };
  }

  /** Whether the edge is draining or has stopped. */
  get stopping(): boolean {
    return this.#stopped !== null;
  }

  /** Ends live calls now instead of waiting for the drain. */
  hurry(): void {
    this.#parts.calls.endRemaining('The edge was stopped at once.');
  }

  /** Drains and stops; later calls return the same promise. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { settings, log, calls, reporting } = this.#parts;
    log.info({ calls: calls.size }, 'draining');
    const drained = calls.drain(settings.drainTimeoutMs);
    reporting.sendStatus();
    const unregistered = this.#unregistered();
    await drained;
    await unregistered;
    await this.#dialogsGone();
    await this.#close();
    log.info({}, 'stopped');
  }

  /** Other edges take over the registrations first, so that the PBXs always have one. */
  async #unregistered(): Promise<void> {
    const { fleet, reporting, signaling } = this.#parts;
    if (fleet.hasOthers && reporting.connected) await signaling.handedOver(handOverMs);
    await signaling.unregister();
  }

  async #dialogsGone(): Promise<void> {
    const stepMs = 20;
    for (let waited = 0; this.#parts.signaling.dialogs > 0 && waited < lingerMs; waited += stepMs) {
      await new Promise<void>((resolve) => clock.after(stepMs, resolve));
    }
  }

  async #close(): Promise<void> {
    const { media, testMedia, testAgents, tts, reporting, uploads, signaling, trunks, probes, engine } =
      this.#parts;
    await trunks.close();
    probes.flush();
    await signaling.close();
    await engine?.stop();
    await media.close();
    await testMedia.close();
    await tts.close();
    await testAgents.close();
    await uploads.close();
    await reporting.close();
    await this.#parts.tracing?.close();
  }
}

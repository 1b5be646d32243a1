/** Agents and media of the simulated world: no audio, but every acquired resource must be released. */
import type { CodecName } from '#shared/codecs.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { newId } from '#shared/ids.ts';
import type { AgentHost, AgentLeg, Agents, CallFacts } from '../../edge/call/ports/agents.ts';
import type {
  AudioEndpoint,
  Media,
  MediaBridge,
  MediaLeg,
  MediaLegOptions,
  MediaRoom,
  MediaSupervision,
} from '../../edge/call/ports/media.ts';
import { CallRefused } from '../../edge/call/refused.ts';
import { FakeBridge, FakeMediaLeg } from '../kit/fakes/fake-media.ts';
import { Keypads } from './keys.ts';
import type { Random } from './random.ts';
import type { MachineClock } from './time.ts';

/** RTP port pairs of the edge: few, so that they are exhausted. */
export const portPairs = 12;

export class SimMedia implements Media {
  readonly #random: Random;
  readonly #clock: MachineClock;
  /** Legs that hold a port pair. */
  readonly open = new Set<MediaLeg>();
  readonly keypads: Keypads;
  #silentFrom: number | null = null;

  constructor(random: Random, clock: MachineClock) {
    this.#random = random;
    this.#clock = clock;
    this.keypads = new Keypads(random, clock);
  }

  async createLeg(options: MediaLegOptions): Promise<MediaLeg> {
    if (this.open.size >= portPairs) throw new CallRefused(503, 'No RTP port pair is free');
    const leg = new SimLeg(
      options,
      this.keypads,
      () => (this.#silentFrom === null ? 0 : this.#clock.now() - this.#silentFrom),
      () => this.open.delete(leg),
    );
    this.open.add(leg);
    await this.#pause();
    if (this.#random.chance(0.02)) {
      leg.close();
      throw new Error('the media worker died');
    }
    if (this.#random.chance(0.02)) {
      this.#clock.after(this.#random.between(0, 30_000), () => {
        if (this.open.has(leg)) options.failed?.(new Error('the media worker died'));
      });
    }
    return leg;
  }

  openRoom(): MediaRoom {
    const none = () => {};
    return { enter: none, enterAgent: none, leaveAgent: none, mute: none, leave: none };
  }

  supervise(): MediaSupervision {
    return { setMode: () => {}, close: () => {} };
  }

  async bridge(one: MediaLeg, other: MediaLeg): Promise<MediaBridge> {
    await this.#pause();
    if (!this.open.has(one) || !this.open.has(other)) throw new CallRefused(488, 'A leg is closed');
    return new FakeBridge(one, other, { transcode: true });
  }

  /** No more media from any far end. */
  fallSilent(): void {
    this.#silentFrom ??= this.#clock.now();
  }

  /** Media responds asynchronously, in any order. */
  #pause(): Promise<void> {
    return new Promise((resolve) => this.#clock.after(this.#random.between(0, 5), resolve));
  }
}

class SimLeg extends FakeMediaLeg {
  readonly #gone: () => void;

  readonly #keypads: Keypads;
  readonly #silentForMs: () => number;

  constructor(options: MediaLegOptions, keypads: Keypads, silentForMs: () => number, gone: () => void) {
    super(options);
    this.#keypads = keypads;
    this.#silentForMs = silentForMs;
    this.#gone = gone;
  }

  override codec: CodecName | null = null;

  override attach(endpoint: AudioEndpoint | null): void {
    super.attach(endpoint);
    this.#keypads.attached(this);
  }

  override async sendDtmf(digits: string): Promise<void> {
    await super.sendDtmf(digits);
    this.#keypads.sent(this.options.callId, digits);
  }

  override silentForMs(): number {
    return this.#silentForMs();
  }

  override close(): void {
    super.close();
    this.#gone();
  }
}

export interface SimAgentsParts {
  /** Transfer target of the simulated agents. */
  readonly transferTo: () => string;
  /** The edge's real agents, which follow pathways. */
  readonly pathways: Agents;
}

export class SimAgents implements Agents {
  readonly #random: Random;
  readonly #clock: MachineClock;
  readonly #parts: SimAgentsParts;
  readonly open = new Set<AgentLeg>();

  constructor(random: Random, clock: MachineClock, parts: SimAgentsParts) {
    this.#random = random;
    this.#clock = clock;
    this.#parts = parts;
  }

  create(settings: AgentSettings, call: CallFacts, host: AgentHost): AgentLeg {
    if (settings.kind === 'pathway') return this.#watched(this.#parts.pathways.create(settings, call, host));
    const agent = new SimAgent(this.#random, this.#clock, call, host, this.#parts.transferTo(), () =>
      this.open.delete(agent),
    );
    this.open.add(agent);
    return agent;
  }

  #watched(agent: AgentLeg): AgentLeg {
    this.open.add(agent);
    const close = agent.close.bind(agent);
    return Object.assign(agent, {
      close: (reason: string) => {
        this.open.delete(agent);
        close(reason);
      },
    });
  }

  consult(_order: unknown, call: CallFacts, host: AgentHost): AgentLeg {
    const agent = new SimAgent(this.#random, this.#clock, call, host, null, () => this.open.delete(agent));
    this.open.add(agent);
    return agent;
  }

  waiting(): AudioEndpoint {
    return { sampleRate: 8000, read: () => false };
  }

  music(): AudioEndpoint {
    return { sampleRate: 8000, read: () => false };
  }
}

class SimAgent implements AgentLeg {
  readonly sampleRate = 8000;
  readonly #random: Random;
  readonly #clock: MachineClock;
  readonly #host: AgentHost;
  readonly #call: CallFacts;
  readonly #transferTo: string | null;
  readonly #gone: () => void;
  #over = false;

  constructor(
    random: Random,
    clock: MachineClock,
    call: CallFacts,
    host: AgentHost,
    transferTo: string | null,
    gone: () => void,
  ) {
    this.#random = random;
    this.#clock = clock;
    this.#call = call;
    this.#host = host;
    this.#transferTo = transferTo;
    this.#gone = gone;
  }

  prepare(): Promise<void> {
    const how = this.#random.weighted({ ready: 6, slow: 3, refuses: 0.5, hangs: 0.5 });
    if (how === 'ready') return Promise.resolve();
    if (how === 'hangs') return new Promise(() => {});
    return new Promise((resolve, reject) =>
      this.#clock.after(this.#random.between(1, 8000), () =>
        how === 'slow' ? resolve() : reject(new Error('the model does not answer')),
      ),
    );
  }

  start(): void {
    const random = this.#random;
    const lines = random.between(0, 3);
    for (let line = 0; line < lines; line++) {
      this.#later(random.between(10, 20_000), () =>
        this.#host.transcript({
          id: newId(),
          at: new Date(this.#clock.now()).toISOString(),
          user: 'assistant',
          text: `line ${line} of ${this.#call.callId}`,
          node_id: null,
          node_name: null,
        }),
      );
    }
    const what = random.weighted({ hangs_up: 5, stays: 3, fails: 0.5, transfers: 1.5, joins: 1 });
    const after = random.between(10, 60_000);
    if (what === 'hangs_up') this.#later(after, () => this.#host.hangup('the conversation is over'));
    if (what === 'fails') this.#later(after, () => this.#host.fail(new Error('the agent broke')));
    if (what === 'joins') this.#later(after, () => this.#host.join());
    if (what === 'transfers' && this.#transferTo !== null) {
      const target = this.#transferTo;
      const method = random.pick(['refer', 'bridge'] as const);
      this.#later(after, () => void this.#host.transfer({ target, method, consult: null }));
    }
  }

  close(): void {
    this.#over = true;
    this.#gone();
  }

  read(): boolean {
    return false;
  }

  #later(ms: number, what: () => void): void {
    this.#clock.after(ms, () => {
      if (!this.#over) what();
    });
  }
}

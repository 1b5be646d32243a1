/** Agents that become ready when the test says so. */
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { AgentHost, AgentLeg, Agents, CallFacts, Manner } from '../../../edge/call/ports/agents.ts';
import type { AudioEndpoint, DtmfEvent } from '../../../edge/call/ports/media.ts';
import type { ConsultOrder } from '../../../edge/call/ports/transfer.ts';

export class FakeAgent implements AgentLeg {
  readonly sampleRate = 8000;
  /** null: an agent that speaks to the target of a transfer. */
  readonly settings: AgentSettings | null;
  readonly call: CallFacts;
  readonly host: AgentHost;
  readonly #ready: boolean;
  started = 0;
  readonly closedFor: string[] = [];
  lastWords?: () => Promise<void>;
  /** Keys from the peer. */
  readonly keys: string[] = [];
  /** By supervisors. */
  readonly told: string[] = [];
  readonly instruct = (text: string) => void this.told.push(text);
  becomeReady: () => void = () => {};
  refuse: (error: Error) => void = () => {};

  constructor(settings: AgentSettings | null, call: CallFacts, host: AgentHost, ready: boolean) {
    this.settings = settings;
    this.call = call;
    this.host = host;
    this.#ready = ready;
  }

  async prepare(): Promise<void> {
    if (this.#ready) return;
    await new Promise<void>((resolve, reject) => {
      this.becomeReady = resolve;
      this.refuse = reject;
    });
  }

  start(): void {
    this.started++;
  }

  close(reason: string): void {
    this.closedFor.push(reason);
  }

  dtmf({ digit }: DtmfEvent): void {
    this.keys.push(digit);
  }

  read(): boolean {
    return false;
  }
}

export class FakeAgents implements Agents {
  readonly created: FakeAgent[] = [];
  readonly keep: boolean;
  /** Whether the next agents are ready at once. */
  ready = true;
  /** The announcements for the agents of transfer targets, in order. */
  readonly consults: ConsultOrder[] = [];
  /** Their voice settings. */
  readonly manners: (Manner | undefined)[] = [];
  /** What a peer hears while the target is called. */
  readonly ringback: AudioEndpoint = { sampleRate: 8000, read: () => true };
  /** What a peer on hold hears. */
  readonly holdMusic: AudioEndpoint = { sampleRate: 8000, read: () => true };

  constructor(keep = true) {
    this.keep = keep;
  }

  create(settings: AgentSettings, call: CallFacts, host: AgentHost): AgentLeg {
    const agent = new FakeAgent(settings, call, host, this.ready);
    if (this.keep) this.created.push(agent);
    return agent;
  }

  consult(order: ConsultOrder, call: CallFacts, host: AgentHost, manner?: Manner): AgentLeg {
    const agent = new FakeAgent(null, call, host, this.ready);
    this.consults.push(order);
    this.manners.push(manner);
    if (this.keep) this.created.push(agent);
    return agent;
  }

  waiting(): AudioEndpoint {
    return this.ringback;
  }

  music(): AudioEndpoint {
    return this.holdMusic;
  }

  /** The agent created last. @throws when there is none */
  get last(): FakeAgent {
    const agent = this.created.at(-1);
    if (!agent) throw new Error('no agent was created');
    return agent;
  }
}

/** Settings of an echo agent, with the defaults of the contract. */
export const echoAgent: AgentSettings = {
  kind: 'echo',
  first_sentence: null,
  wait_for_greeting: false,
  block_interruptions: false,
  ignore_button_press: false,
  voice: null,
  language: 'en-US',
  interruption_threshold: 500,
  timezone: 'America/Los_Angeles',
  max_duration: 30,
  request_data: {},
  fallback_number: null,
};

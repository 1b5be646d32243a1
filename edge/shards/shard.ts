/**
 * One media shard as calls see it from the main thread: media and agents over a channel.
 *
 *     calls ── Media, Agents ──> Shard ══channel══> ShardHost ──> media, agents
 */
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import {
  type AgentHost,
  type AgentLeg,
  type Agents,
  type CallFacts,
  hasModel,
  type Manner,
} from '../call/ports/agents.ts';
import type {
  AudioEndpoint,
  BridgeOptions,
  Media,
  MediaBridge,
  MediaLeg,
  MediaLegOptions,
  MediaRoom,
  MediaSupervision,
  RoomOptions,
  SupervisionOptions,
} from '../call/ports/media.ts';
import type { ConsultOrder } from '../call/ports/transfer.ts';
import { BrowserLost, CallRefused, LegsApart } from '../call/refused.ts';
import type { Channel } from './channel.ts';
import { toMain, toShard } from './messages.ts';
import { RemoteAgent } from './remote-agent.ts';
import { musicOnHold, RemoteBridge, RemoteLeg, waitingTone } from './remote-leg.ts';
import { RemoteRoom } from './remote-room.ts';
import { timeHere } from './thread-time.ts';

/** A call that has a leg or an agent in a shard. */
export interface CallUse {
  readonly callId: string;
  /** Absent: of no organization. */
  readonly orgId?: string | undefined;
}

export interface ShardOptions {
  readonly channel: Channel;
  /** Called with every SRTP key of a call. */
  readonly keyKnown: (callId: string, key: string) => void;
  /** Called when a leg or an agent of a call begins, and when it is over. */
  readonly used: (call: CallUse) => void;
  readonly unused: (callId: string) => void;
}

export class Shard implements Media, Agents {
  readonly channel: Channel;
  readonly #options: ShardOptions;
  readonly #legs = new Map<number, RemoteLeg>();
  readonly #bridges = new Map<number, RemoteBridge>();
  readonly #rooms = new Map<number, RemoteRoom>();
  readonly #agents = new Map<number, RemoteAgent>();
  /** Ids of recordings whose files the shard writes. */
  readonly #recordings = new Set<string>();
  #nextId = 1;

  constructor(options: ShardOptions) {
    this.channel = options.channel;
    this.#options = options;
    this.#listen();
  }

  get legs(): number {
    return this.#legs.size;
  }

  // ---------------------------------------------------------------- media

  async createLeg(options: MediaLegOptions): Promise<MediaLeg> {
    const { channel } = this;
    const { callId, codecs, browser = false, beside } = options;
    const id = this.#nextId++;
    const over = this.#inUse(options, () => this.#legs.delete(id));
    const leg = new RemoteLeg({
      ...options,
      id,
      channel,
      changed: () => this.#changed(),
      recorded: (recording) => void this.#recordings.add(recording),
      over,
    });
    this.#legs.set(id, leg);
    const besideId = beside instanceof RemoteLeg && beside.channel === channel ? beside.id : null;
    try {
      const order = { leg: id, call_id: callId, codecs, browser, beside: besideId };
      await channel.ask(toShard.createLeg, order);
      return leg;
    } catch (error) {
      over();
      throw error;
    }
  }

  async bridge(one: MediaLeg, other: MediaLeg, options: BridgeOptions): Promise<MediaBridge> {
    if (!this.#has(one) || !this.#has(other)) throw new LegsApart();
    const id = this.#nextId++;
    const bridge = new RemoteBridge(id, this.channel, options, () => this.#bridges.delete(id));
    this.#bridges.set(id, bridge);
    try {
      await bridge.open(one, other);
      return bridge;
    } catch (error) {
      this.#bridges.delete(id);
      throw error;
    }
  }

  openRoom(_beside: MediaLeg, options: RoomOptions = {}): MediaRoom {
    const id = this.#nextId++;
    const room: RemoteRoom = new RemoteRoom(id, this.channel, options, (inUse) => {
      if (inUse) this.#rooms.set(id, room);
      else this.#rooms.delete(id);
    });
    return room;
  }

  supervise(leg: MediaLeg, supervisor: MediaLeg, options: SupervisionOptions): MediaSupervision {
    if (!this.#has(leg) || !this.#has(supervisor)) throw new LegsApart();
    const { channel } = this;
    const supervision = this.#nextId++;
    channel.tell(toShard.supervise, { supervision, leg: leg.id, supervisor: supervisor.id, ...options });
    let isOver = false;
    return {
      setMode: (mode) => channel.tell(toShard.superviseHow, { supervision, mode }),
      close: () => {
        if (!isOver) channel.tell(toShard.endSupervision, { supervision });
        isOver = true;
      },
    };
  }

  /** What agents may ask of a call may have changed. */
  #changed(): void {
    for (const agent of this.#agents.values()) agent.tellChanges();
  }

  #has(leg: MediaLeg): leg is RemoteLeg {
    return leg instanceof RemoteLeg && leg.channel === this.channel;
  }

  // ---------------------------------------------------------------- agents

  create(settings: AgentSettings, call: CallFacts, host: AgentHost): AgentLeg {
    const agent = this.#newAgent(call, host, hasModel(settings));
    this.channel.tell(toShard.createAgent, { agent: agent.id, settings, call });
    return agent;
  }

  consult(order: ConsultOrder, call: CallFacts, host: AgentHost, manner?: Manner): AgentLeg {
    const agent = this.#newAgent(call, host, false);
    // Of an agent's settings only these.
    const how = manner ? { voice: manner.voice, language: manner.language } : null;
    this.channel.tell(toShard.createConsult, { agent: agent.id, order, call, manner: how });
    return agent;
  }

  waiting(): AudioEndpoint {
    return waitingTone;
  }

  music(): AudioEndpoint {
    return musicOnHold;
  }

  #newAgent(call: CallFacts, host: AgentHost, takesText: boolean): RemoteAgent {
    const id = this.#nextId++;
    const over = this.#inUse(call, () => this.#agents.delete(id));
    const agent = new RemoteAgent({ id, channel: this.channel, host, takesText, over });
    this.#agents.set(id, agent);
    return agent;
  }

  /** @returns ends the use, once */
  #inUse(call: CallUse, ended: () => void): () => void {
    let inUse = true;
    this.#options.used(call);
    return () => {
      if (!inUse) return;
      inUse = false;
      ended();
      this.#options.unused(call.callId);
    };
  }

  // ---------------------------------------------------------------- events

  #listen(): void {
    const { channel } = this;
    const { keyKnown } = this.#options;
    channel.onTell(toMain.sampled, ({ leg, sample }) =>
      this.#legs.get(leg)?.sampled({ ...sample, at: timeHere(sample.at) }),
    );
    channel.onTell(toMain.legFailed, ({ leg, why, browser }) =>
      this.#legs.get(leg)?.fail(browser ? new BrowserLost(why) : new Error(why)),
    );
    channel.onTell(toMain.recordingStopped, ({ leg, reason, detail }) => {
      this.#legs.get(leg)?.recordingStopped(reason, detail);
      this.#changed();
    });
    channel.onTell(toMain.recordingPaused, ({ leg, paused }) => this.#legs.get(leg)?.recordingPaused(paused));
    channel.onTell(toMain.recordingFinished, ({ recording }) => void this.#recordings.delete(recording));
    channel.onTell(toMain.bridgeFailed, ({ bridge, why, sip_status }) =>
      this.#bridges.get(bridge)?.fail(new CallRefused(sip_status, why)),
    );
    channel.onTell(toMain.heardInRoom, ({ room, leg, speaks }) => this.#rooms.get(room)?.heard(leg, speaks));
    channel.onTell(toMain.roomFailed, ({ room, why }) => this.#rooms.get(room)?.fail(new Error(why)));
    channel.onTell(toMain.roomAgentFailed, ({ room, why }) =>
      this.#rooms.get(room)?.agentFailed(new Error(why)),
    );
    channel.onTell(toMain.keyKnown, ({ call_id, key }) => keyKnown(call_id, key));
    const host = (id: number): AgentHost | undefined => this.#agents.get(id)?.host;
    channel.onTell(toMain.hangup, ({ agent, reason, extras }) =>
      host(agent)?.hangup(reason, extras ?? undefined),
    );
    channel.onAsk(toMain.said, ({ agent, entries, left_out: leftOut, variables }) => {
      if (entries.length > 0) host(agent)?.transcript(...entries);
      if (leftOut > 0) host(agent)?.linesLeftOut?.(leftOut);
      if (variables) host(agent)?.variables(variables);
      return {};
    });
    channel.onTell(toMain.mark, ({ agent, turn, what, at }) =>
      host(agent)?.mark?.({ turn, what, at: timeHere(at) }),
    );
    channel.onTell(toMain.recording, ({ agent, step }) => void host(agent)?.recording?.(step));
    channel.onTell(toMain.join, ({ agent }) => host(agent)?.join());
    channel.onTell(toMain.answeredBy, ({ agent, who }) => host(agent)?.answeredBy(who));
    channel.onTell(toMain.agentFailed, ({ agent, why }) => host(agent)?.fail(new Error(why)));
    channel.onAsk(toMain.agentKeys, async ({ agent, digits }) => {
      await host(agent)?.sendDtmf(digits);
      return {};
    });
    channel.onAsk(toMain.transfer, async ({ agent, order }) => {
      const outcome = await host(agent)?.transfer(order);
      return {
        outcome: outcome ?? { ok: false, code: 'not_active', sipCode: null, reason: 'The call is over.' },
      };
    });
  }

  /** The shard is gone, and with it the audio of its calls. @returns ids of recordings that it did not finish */
  lost(error: Error): readonly string[] {
    this.channel.close(error);
    for (const leg of [...this.#legs.values()]) leg.fail(error);
    for (const agent of [...this.#agents.values()]) agent.fail(error);
    return [...this.#recordings];
  }
}

/** The other end of `Shard`: carries out in a shard, on its media and agents, what calls in the main thread want. */
import type { Answerer } from '#shared/answerer.ts';
import type { Clock } from '#shared/clock.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { AgentHost, AgentLeg, AgentMark, Agents } from '../call/ports/agents.ts';
import {
  type AudioEndpoint,
  type LegRecording,
  type LocalLeg,
  type LocalMedia,
  type MediaBridge,
  type MediaRoom,
  type MediaSupervision,
  type RecordingOrder,
  silence,
} from '../call/ports/media.ts';
import type { ByeExtras } from '../call/ports/signaling.ts';
import type { TransferOrder, TransferOutcome } from '../call/ports/transfer.ts';
import { BrowserLost } from '../call/refused.ts';
import { AgentNotices } from './agent-notices.ts';
import type { Channel } from './channel.ts';
import { toMain, toShard } from './messages.ts';
import { sharedTime } from './thread-time.ts';

export interface ShardHostParts {
  readonly channel: Channel;
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly media: LocalMedia;
  readonly agents: Agents;
}

interface SeatedAgent {
  /** null: it could not be made. */
  readonly agent: AgentLeg | null;
  readonly error: unknown;
  readonly host: RemoteHost;
}

/** What a leg is attached to. */
type Source = 'agent' | 'waiting' | 'music' | 'silence' | 'nothing';

export class ShardHost {
  readonly #parts: ShardHostParts;
  readonly #legs = new Map<number, LocalLeg>();
  readonly #recordings = new Map<number, LegRecording>();
  readonly #bridges = new Map<number, MediaBridge>();
  /** With the ids of the legs and agents in each; no two have the same. */
  readonly #rooms = new Map<number, { readonly room: MediaRoom; readonly members: Set<number> }>();
  readonly #supervisions = new Map<number, MediaSupervision>();
  readonly #agents = new Map<number, SeatedAgent>();

  constructor(parts: ShardHostParts) {
    this.#parts = parts;
    this.#serveMedia();
    this.#serveAgents();
  }

  /** What is left of calls: for leak checks. */
  get size(): number {
    const media = [this.#legs, this.#recordings, this.#bridges, this.#rooms, this.#supervisions];
    return [...media, this.#agents].reduce((sum, { size }) => sum + size, 0);
  }

  // ---------------------------------------------------------------- media

  #serveMedia(): void {
    const { channel, media } = this.#parts;
    channel.onAsk(toShard.createLeg, async ({ leg: id, call_id: callId, codecs, browser, beside }) => {
      const leg = await media.createLeg({
        callId,
        codecs,
        browser,
        beside: beside === null ? undefined : this.#legs.get(beside),
        failed: (error) =>
          channel.tell(toMain.legFailed, {
            leg: id,
            why: error.message,
            browser: error instanceof BrowserLost,
          }),
        sampled: (sample) =>
          channel.tell(toMain.sampled, { leg: id, sample: { ...sample, at: sharedTime(sample.at) } }),
      });
      this.#legs.set(id, leg);
      return {};
    });
    channel.onAsk(toShard.answer, async ({ leg: id, offer }) => {
      const leg = this.#leg(id);
      const sdp = await leg.answer(offer);
      return { sdp, ...sessionOf(leg) };
    });
    channel.onAsk(toShard.offer, async ({ leg, anew }) => ({ sdp: await this.#leg(leg).offer(anew) }));
    channel.onAsk(toShard.accept, async ({ leg: id, answer }) => {
      const leg = this.#leg(id);
      await leg.accept(answer);
      return sessionOf(leg);
    });
    channel.onTell(toShard.attach, ({ leg, what, agent }) =>
      this.#legs.get(leg)?.attach(this.#endpoint(what, agent)),
    );
    channel.onTell(toShard.withdraw, ({ leg }) => this.#legs.get(leg)?.withdraw());
    channel.onTell(toShard.hold, ({ leg, on }) => this.#legs.get(leg)?.hold(on));
    channel.onAsk(toShard.pressKeys, async ({ leg, digits }) => {
      await this.#leg(leg).sendDtmf(digits);
      return {};
    });
    channel.onTell(toShard.pressed, ({ leg, digit, duration_ms: durationMs }) =>
      this.#legs.get(leg)?.pressed({ digit, durationMs }),
    );
    channel.onTell(toShard.tell, ({ leg, side, words }) => this.#legs.get(leg)?.tell(side, words));
    channel.onAsk(toShard.silence, ({ leg }) => ({ ms: this.#leg(leg).silentForMs() }));
    channel.onAsk(toShard.report, ({ leg }) => ({ report: this.#leg(leg).report() }));
    channel.onTell(toShard.closeLeg, ({ leg }) => this.#closeLeg(leg));
    this.#serveRecordings();
    this.#serveRooms();
    this.#serveSupervisions();
    channel.onAsk(toShard.bridge, async ({ bridge: id, one, other, transcode }) => {
      const bridge = await media.bridge(this.#leg(one), this.#leg(other), {
        transcode,
        failed: ({ message: why, sipStatus: sip_status }) => {
          this.#bridges.delete(id);
          channel.tell(toMain.bridgeFailed, { bridge: id, why, sip_status });
        },
      });
      this.#bridges.set(id, bridge);
      return { mode: bridge.mode };
    });
    channel.onTell(toShard.closeBridge, ({ bridge }) => {
      this.#bridges.get(bridge)?.close();
      this.#bridges.delete(bridge);
    });
  }

  #serveRooms(): void {
    const { channel } = this.#parts;
    channel.onTell(toShard.enterRoom, ({ room: id, leg: legId, tones }) => {
      const leg = this.#legs.get(legId);
      if (leg) this.#member(id, legId).enter(leg, tones);
    });
    channel.onTell(toShard.leaveRoom, ({ room, leg }) => this.#leaveRoom(room, leg));
    channel.onTell(toShard.agentEntersRoom, ({ room: id, agent: agentId }) => {
      const agent = this.#agents.get(agentId)?.agent;
      if (agent) this.#member(id, agentId).enterAgent(agent);
    });
    channel.onTell(toShard.agentLeavesRoom, ({ room, agent }) => this.#leaveRoom(room, agent));
    channel.onTell(toShard.muteInRoom, ({ room, leg: legId, on }) => {
      const leg = this.#legs.get(legId);
      if (leg) this.#rooms.get(room)?.room.mute(leg, on);
    });
  }

  /** The room, with this leg or agent as one of its members. */
  #member(id: number, member: number): MediaRoom {
    const entered = this.#rooms.get(id) ?? { room: this.#openRoom(id), members: new Set<number>() };
    this.#rooms.set(id, entered);
    entered.members.add(member);
    return entered.room;
  }

  #openRoom(room: number): MediaRoom {
    const { channel, media } = this.#parts;
    return media.openRoom(null, {
      heard: (heard, speaks) => {
        const leg = [...this.#legs].find(([, one]) => one === heard)?.[0];
        if (leg !== undefined) channel.tell(toMain.heardInRoom, { room, leg, speaks });
      },
      failed: ({ message: why }) => channel.tell(toMain.roomFailed, { room, why }),
      agentFailed: ({ message: why }) => channel.tell(toMain.roomAgentFailed, { room, why }),
    });
  }

  #leaveRoom(id: number, member: number): void {
    const left = this.#rooms.get(id);
    if (!left?.members.delete(member)) return;
    const leg = this.#legs.get(member);
    const agent = this.#agents.get(member)?.agent;
    if (leg) left.room.leave(leg);
    if (agent) left.room.leaveAgent(agent);
    if (left.members.size === 0) this.#rooms.delete(id);
  }

  #serveSupervisions(): void {
    const { channel, media } = this.#parts;
    channel.onTell(toShard.supervise, ({ supervision, leg: legId, supervisor: supervisorId, ...options }) => {
      const [leg, supervisor] = [this.#legs.get(legId), this.#legs.get(supervisorId)];
      if (leg && supervisor) this.#supervisions.set(supervision, media.supervise(leg, supervisor, options));
    });
    channel.onTell(toShard.superviseHow, ({ supervision, mode }) =>
      this.#supervisions.get(supervision)?.setMode(mode),
    );
    channel.onTell(toShard.endSupervision, ({ supervision }) => {
      this.#supervisions.get(supervision)?.close();
      this.#supervisions.delete(supervision);
    });
  }

  #serveRecordings(): void {
    const { channel } = this.#parts;
    channel.onTell(toShard.record, ({ leg: id, pause_key: pauseKey, data_key: dataKey, ...order }) => {
      const leg = this.#legs.get(id);
      const stopped: RecordingOrder['stopped'] = (reason, detail) =>
        channel.tell(toMain.recordingStopped, { leg: id, reason, detail });
      try {
        const paused = (isPaused: boolean) =>
          channel.tell(toMain.recordingPaused, { leg: id, paused: isPaused });
        const recording = leg?.record({ ...order, dataKey, pauseKey, stopped, paused });
        if (recording) this.#recordings.set(id, recording);
        else channel.tell(toMain.recordingFinished, { recording: order.header.id });
      } catch (error) {
        stopped('edge_disk_failed', error instanceof Error ? error.message : String(error));
        channel.tell(toMain.recordingFinished, { recording: order.header.id });
      }
    });
    channel.onTell(toShard.pauseRecording, ({ leg, paused, with_others: withOthers }) => {
      const recording = this.#recordings.get(leg);
      if (withOthers) recording?.pauseWithOthers(paused);
      else if (paused) recording?.pause();
      else recording?.resume();
    });
  }

  /** @throws Error when it is closed */
  #leg(id: number): LocalLeg {
    const leg = this.#legs.get(id);
    if (!leg) throw new Error('the media leg is closed');
    return leg;
  }

  #closeLeg(id: number): void {
    const leg = this.#legs.get(id);
    if (!leg) return;
    for (const room of this.#rooms.keys()) this.#leaveRoom(room, id);
    this.#legs.delete(id);
    this.#recordings.delete(id);
    leg.close();
  }

  #endpoint(what: Source, agent: number | null): AudioEndpoint | null {
    if (what === 'nothing') return null;
    if (what === 'silence') return silence;
    if (what === 'waiting') return this.#parts.agents.waiting();
    if (what === 'music') return this.#parts.agents.music();
    const seated = agent === null ? undefined : this.#agents.get(agent);
    if (!seated) return null;
    return seated.agent;
  }

  // ---------------------------------------------------------------- agents

  #serveAgents(): void {
    const { channel, agents } = this.#parts;
    channel.onTell(toShard.createAgent, ({ agent, settings, call }) =>
      this.#seat(agent, (host) => agents.create(settings, call, host)),
    );
    channel.onTell(toShard.createConsult, ({ agent, order, call, manner }) =>
      this.#seat(agent, (host) => agents.consult(order, call, host, manner ?? undefined)),
    );
    channel.onAsk(toShard.prepare, async ({ agent: id }) => {
      const seated = this.#agents.get(id);
      if (!seated) throw new Error('the agent is closed');
      if (!seated.agent) throw seated.error;
      await seated.agent.prepare();
      return {};
    });
    channel.onTell(toShard.startAgent, ({ agent }) => this.#agents.get(agent)?.agent?.start());
    channel.onTell(toShard.instruct, ({ agent, text }) => this.#agents.get(agent)?.agent?.instruct?.(text));
    channel.onTell(toShard.keysPossible, ({ agent, possible }) => {
      const seated = this.#agents.get(agent);
      if (seated) seated.host.keys = possible;
    });
    channel.onTell(toShard.recorded, ({ agent, recorded }) => {
      const seated = this.#agents.get(agent);
      if (seated) seated.host.isRecorded = recorded;
    });
    channel.onAsk(toShard.closeAgent, ({ agent: id, reason }) => {
      const seated = this.#agents.get(id);
      for (const room of this.#rooms.keys()) this.#leaveRoom(room, id);
      this.#agents.delete(id);
      seated?.agent?.close(reason);
      seated?.host.flush();
      return {};
    });
  }

  /** An agent that cannot be made says so when it is prepared. */
  #seat(id: number, make: (host: AgentHost) => AgentLeg): void {
    const host = new RemoteHost(id, this.#parts);
    try {
      this.#agents.set(id, { agent: make(host), error: null, host });
    } catch (error) {
      this.#agents.set(id, { agent: null, error, host });
    }
  }
}

function sessionOf({ codec, keys, held }: LocalLeg): Pick<LocalLeg, 'codec' | 'keys' | 'held'> {
  return { codec, keys, held };
}

/** What an agent may ask of its call, which is in the main thread. */
class RemoteHost implements Required<AgentHost> {
  /** As told by the main thread. */
  keys = true;
  isRecorded = false;
  readonly #agent: number;
  readonly #channel: Channel;
  readonly #notices: AgentNotices;

  constructor(agent: number, { channel, clock }: Pick<ShardHostParts, 'channel' | 'clock'>) {
    this.#agent = agent;
    this.#channel = channel;
    this.#notices = new AgentNotices(agent, channel, clock);
  }

  /** Everything that the agent has said is on its way. */
  flush(): void {
    this.#notices.flush();
  }

  hangup(reason: string, extras?: ByeExtras): void {
    this.flush();
    this.#channel.tell(toMain.hangup, { agent: this.#agent, reason, extras: extras ?? null });
  }

  async sendDtmf(digits: string): Promise<void> {
    await this.#channel.ask(toMain.agentKeys, { agent: this.#agent, digits });
  }

  keysPossible(): boolean {
    return this.keys;
  }

  transcript(...entries: TranscriptEntry[]): void {
    for (const entry of entries) this.#notices.line(entry);
  }

  linesLeftOut(count: number): void {
    this.#notices.leftOut(count);
  }

  mark({ turn, what, at }: AgentMark): void {
    this.#channel.tell(toMain.mark, { agent: this.#agent, turn, what, at: sharedTime(at) });
  }

  variables(values: CallVariables): void {
    this.#notices.variables(values);
  }

  async transfer(order: TransferOrder): Promise<TransferOutcome> {
    this.flush();
    const { outcome } = await this.#channel.ask(toMain.transfer, { agent: this.#agent, order });
    return outcome;
  }

  recording(step: 'pause' | 'resume'): boolean {
    if (this.isRecorded) this.#channel.tell(toMain.recording, { agent: this.#agent, step });
    return this.isRecorded;
  }

  recorded(): boolean {
    return this.isRecorded;
  }

  join(): void {
    this.flush();
    this.#channel.tell(toMain.join, { agent: this.#agent });
  }

  answeredBy(who: Answerer): void {
    this.#channel.tell(toMain.answeredBy, { agent: this.#agent, who });
  }

  fail({ message: why }: Error): void {
    this.flush();
    this.#channel.tell(toMain.agentFailed, { agent: this.#agent, why });
  }
}

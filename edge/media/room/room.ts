/**
 * A conference of legs. The frames of all parties are taken, mixed and handed out in a turn of its own every 20 ms:
 *
 *     leg -> decode -> write |queue| turn: sum, minus each party's own |queue| read -> encode -> leg
 *
 * It works at 16 kHz while a party has a codec with more than telephone bandwidth, else at 8 kHz.
 */
import type { AudioEndpoint, MediaLeg, MediaRoom, RoomLeg } from '../../call/ports/media.ts';
import { crossingRate, FrameQueue } from '../crossing.ts';
import type { PacedLeg, Playout } from '../playout.ts';
import { AgentParty } from './agent-party.ts';
import { MixLevel } from './mixer.ts';
import { type RoomVoices, Talk } from './talk.ts';

interface Party {
  /** null: an agent, without a leg. */
  readonly leg: MediaLeg | null;
  readonly input: FrameQueue;
  readonly output: FrameQueue;
  readonly level: MixLevel;
  readonly frame: Int16Array;
  speaks: boolean;
  muted: boolean;
  /** Whether tones say that it comes and goes. */
  readonly tones: boolean;
  /** null: nobody listens. */
  readonly talk: Talk | null;
}

type PartyFacts = Pick<Party, 'leg' | 'tones' | 'muted'>;

/** Tones at which parties come and go, Hz, one after the other. */
const comes = [440, 660] as const;
const goes = [660, 440] as const;
const toneFrames = 5;
const toneAmplitude = 2500;

/** How a room hears who speaks. */
export interface RoomHearing {
  readonly voices: RoomVoices;
  readonly heard: (leg: MediaLeg, speaks: boolean) => void;
  /** Called when a voice detector cannot be made. */
  readonly deaf: (error: unknown) => void;
}

/** A fault in a room is one of the room: the other calls go on. */
export interface RoomFaults {
  /** Called once: its parties hear nothing any more. */
  readonly failed: (error: Error) => void;
  /** The agent has left; the parties go on. */
  readonly agentFailed: (error: Error) => void;
}

export class Room implements MediaRoom, PacedLeg {
  readonly #playout: Playout;
  readonly #hearing: RoomHearing | null;
  readonly #faults: RoomFaults;
  readonly #parties = new Map<RoomLeg, Party>();
  readonly #agents = new Map<AudioEndpoint, AgentParty>();
  #rate: AudioEndpoint['sampleRate'] = 8000;
  #sum = new Int32Array(160);
  #out = new Int16Array(160);
  #silence = new Int16Array(160);
  #tone: Int16Array = new Int16Array(0);
  #toneAt = 0;
  #stop: (() => void) | null = null;

  /** @param hearing null: it does not hear who speaks */
  constructor(playout: Playout, hearing: RoomHearing | null, faults: RoomFaults) {
    this.#playout = playout;
    this.#hearing = hearing;
    this.#faults = faults;
  }

  enter(leg: MediaLeg, tones: boolean): void {
    this.#enter(leg, { leg, tones, muted: false });
  }

  enterAgent(agent: AudioEndpoint): void {
    if (this.#agents.has(agent)) return;
    const party = new AgentParty(agent, this.#playout, (error) => {
      this.leaveAgent(agent);
      this.#faults.agentFailed(error);
    });
    this.#agents.set(agent, party);
    this.#enter(party, { leg: null, tones: false, muted: false });
  }

  #enter(leg: RoomLeg, facts: PartyFacts): void {
    this.#parties.set(leg, this.#party(facts, this.#talk(facts)));
    this.#retune();
    this.#seat(leg);
    if (facts.tones) this.#ring(comes);
    this.#stop ??= this.#playout.add(this);
  }

  leaveAgent(agent: AudioEndpoint): void {
    const party = this.#agents.get(agent);
    this.#agents.delete(agent);
    party?.close();
    if (party) this.#leave(party);
  }

  leave(leg: MediaLeg): void {
    this.#leave(leg);
  }

  #leave(leg: RoomLeg): void {
    const party = this.#parties.get(leg);
    if (!party) return;
    this.#parties.delete(leg);
    party.talk?.close();
    this.#retune();
    if (party.tones) this.#ring(goes);
    if (this.#parties.size === 0) this.close();
  }

  mute(leg: MediaLeg, on: boolean): void {
    const party = this.#parties.get(leg);
    if (party) party.muted = on;
  }

  /** Releases everything. */
  close(): void {
    for (const { talk } of this.#parties.values()) talk?.close();
    this.#parties.clear();
    for (const agent of this.#agents.values()) agent.close();
    this.#agents.clear();
    this.#stop?.();
    this.#stop = null;
  }

  tick(): void {
    const sum = this.#sum;
    const toned = this.#beginSum();
    let speakers = 0;
    for (const party of this.#parties.values()) {
      party.speaks = party.input.shift(party.frame) && !party.muted;
      party.talk?.write(party.speaks ? party.frame : this.#silence);
      if (!party.speaks) continue;
      speakers++;
      for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (party.frame[i] ?? 0);
    }
    if (speakers === 0 && !toned) return;
    for (const { level, speaks, frame, output } of this.#parties.values()) {
      level.mix(sum, speaks ? frame : null, this.#out);
      output.push(this.#out);
    }
  }

  skip(): void {}

  failed(error: Error): void {
    this.close();
    this.#faults.failed(error);
  }

  /** @returns whether a tone is in it */
  #beginSum(): boolean {
    const sum = this.#sum;
    const left = this.#tone.length - this.#toneAt;
    for (let i = 0; i < sum.length; i++) sum[i] = i < left ? (this.#tone[this.#toneAt + i] ?? 0) : 0;
    this.#toneAt += Math.min(left, sum.length);
    return left > 0;
  }

  #ring(hz: readonly number[]): void {
    const samples = (toneFrames * this.#rate) / 50;
    this.#toneAt = 0;
    this.#tone = Int16Array.from({ length: hz.length * samples }, (_, n) => {
      const one = hz[Math.floor(n / samples)] ?? 0;
      return Math.round(toneAmplitude * Math.sin((2 * Math.PI * one * n) / this.#rate));
    });
  }

  #talk({ leg }: PartyFacts): Talk | null {
    const hearing = this.#hearing;
    if (!hearing || !leg) return null;
    return new Talk(this.#rate, hearing.voices, (speaks) => hearing.heard(leg, speaks), hearing.deaf);
  }

  #party({ leg, tones, muted }: PartyFacts, talk: Talk | null): Party {
    const samples = this.#rate / 50;
    const [input, output] = [new FrameQueue(samples), new FrameQueue(samples)];
    return {
      leg,
      input,
      output,
      level: new MixLevel(),
      frame: new Int16Array(samples),
      speaks: false,
      muted,
      tones,
      talk,
    };
  }

  /** The rate that suits all parties; when it changes, each gets a new seat. */
  #retune(): void {
    const wide = [...this.#parties.keys()].some(
      ({ codec }) => codec !== null && crossingRate(codec, codec) === 16_000,
    );
    const rate = wide ? 16_000 : 8000;
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.#sum = new Int32Array(rate / 50);
    this.#out = new Int16Array(rate / 50);
    this.#silence = new Int16Array(rate / 50);
    this.#tone = new Int16Array(0);
    this.#toneAt = 0;
    for (const [leg, party] of this.#parties) {
      party.talk?.retune(rate);
      this.#parties.set(leg, this.#party(party, party.talk));
      this.#seat(leg);
    }
  }

  #seat(leg: RoomLeg): void {
    const party = this.#parties.get(leg);
    if (!party) return;
    leg.attach({
      sampleRate: this.#rate,
      read: (frame) => party.output.shift(frame),
      write: (frame) => party.input.push(frame),
    });
  }
}

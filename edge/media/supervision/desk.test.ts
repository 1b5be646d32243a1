/** A supervisor's place at a call, by known tones and without any packets. */
import { describe, expect, it } from 'vitest';
import type { SupervisionMode } from '#shared/supervision.ts';
import { share, tone } from '../../../test/kit/fakes/audio.ts';
import type { AudioEndpoint, SupervisionOptions } from '../../call/ports/media.ts';
import { SupervisorDesk } from './desk.ts';

type Rate = AudioEndpoint['sampleRate'];

const hz = { near: 500, far: 900, supervisor: 1400 } as const;
type Speaker = keyof typeof hz;

/** A call of a second, in which all three speak all the time. */
class Scene {
  readonly desk: SupervisorDesk;
  readonly keys: string[] = [];
  seat: AudioEndpoint | null = null;
  seats = 0;
  #at = 0;

  constructor(options: Partial<SupervisionOptions> = {}) {
    const attach = (endpoint: AudioEndpoint | null) => {
      this.seat = endpoint;
      this.seats++;
    };
    this.desk = new SupervisorDesk({ attach }, { agent: 'far', tone: false, ...options });
  }

  /** What each hears in the last fifth of a second. @param far absent: nobody is there */
  second(
    sampleRate: Rate,
    mode: SupervisionMode | null,
    speaks: readonly Speaker[] = ['near', 'far', 'supervisor'],
  ) {
    const samples = sampleRate / 50;
    const heard = { near: [] as number[], far: [] as number[], left: [] as number[], right: [] as number[] };
    const says = (who: Speaker, frame: Int16Array) => {
      frame.set(tone(hz[who], samples, this.#at, 6000, sampleRate));
      return speaks.includes(who);
    };
    const tap = this.desk.tap({
      sampleRate,
      read: (frame) => says('far', frame),
      write: (frame) => void heard.far.push(...frame),
      dtmf: ({ digit }) => void this.keys.push(digit),
    });
    if (mode) this.desk.mode = mode;
    const [frame, pair] = [new Int16Array(samples), new Int16Array(2 * samples)];
    for (let turn = 0; turn < 50; turn++, this.#at += samples) {
      if (!tap.read(frame)) frame.fill(0);
      heard.near.push(...frame);
      if (!says('near', frame)) frame.fill(0);
      tap.write?.(frame);
      if (!this.seat?.readStereo?.(pair)) pair.fill(0);
      for (let i = 0; i < pair.length; i += 2) {
        heard.left.push(pair[i] ?? 0);
        heard.right.push(pair[i + 1] ?? 0);
      }
      if (says('supervisor', frame)) this.seat?.write?.(frame);
    }
    tap.dtmf?.({ digit: '5', durationMs: 100 });
    const voices = (all: number[]) => {
      const last = Int16Array.from(all.slice(-sampleRate / 5));
      return (Object.keys(hz) as Speaker[]).filter((who) => share(last, hz[who], sampleRate) > 0.2);
    };
    return {
      near: voices(heard.near),
      far: voices(heard.far),
      left: voices(heard.left),
      right: voices(heard.right),
      begins: heard,
    };
  }
}

describe.each([8000, 16_000] as const)('a supervisor at a call at %i Hz', (rate) => {
  it.each<[SupervisionMode, Speaker[], Speaker[]]>([
    ['listen', ['far'], ['near']],
    ['whisper', ['far'], ['near', 'supervisor']],
    ['barge', ['far', 'supervisor'], ['near', 'supervisor']],
    ['take_over', ['supervisor'], ['near', 'supervisor']],
  ])('hears both sides apart; with %s the caller hears %j and the agent %j', (mode, caller, agent) => {
    const heard = new Scene().second(rate, mode);
    expect(heard.near).toEqual(caller);
    expect(heard.far).toEqual(agent);
    expect([heard.left, heard.right]).toEqual([['near'], ['far']]);
  });

  it.each<[SupervisionMode, Speaker[], Speaker[]]>([
    ['whisper', ['far', 'supervisor'], ['near']],
    ['take_over', ['far', 'supervisor'], ['supervisor']],
  ])('knows the agent who is the peer of the leg: %s', (mode, agent, caller) => {
    const heard = new Scene({ agent: 'near' }).second(rate, mode);
    expect(heard.near).toEqual(agent);
    expect(heard.far).toEqual(caller);
    expect([heard.left, heard.right]).toEqual([['far'], ['near']]);
  });
});

it('hears both in one, when the leg is mono', () => {
  const scene = new Scene();
  const tap = scene.desk.tap({
    sampleRate: 8000,
    read: (frame) => frame.set(tone(hz.far, 160, 0, 6000)) === undefined,
  });
  tap.read(new Int16Array(160));
  tap.write?.(tone(hz.near, 160, 0, 6000));
  const mixed = new Int16Array(160);
  expect(scene.seat?.read(mixed)).toBe(true);
  const sum = tone(hz.far, 160, 0, 6000).map((sample, i) => sample + (tone(hz.near, 160, 0, 6000)[i] ?? 0));
  expect(mixed).toEqual(sum);
});

it('changes nothing on the way between the parties while it listens', () => {
  const scene = new Scene();
  const said = tone(hz.near, 160);
  let heard = new Int16Array(0);
  const tap = scene.desk.tap({
    sampleRate: 8000,
    read: () => false,
    write: (frame) => {
      heard = frame.slice();
    },
  });
  expect(tap.read(new Int16Array(160))).toBe(false);
  tap.write?.(said);
  expect(heard).toEqual(said);
});

it('is not heard by the other party with what it said before, when it goes on to listen', () => {
  const scene = new Scene();
  const tap = scene.desk.tap({ sampleRate: 8000, read: () => false });
  scene.desk.mode = 'barge';
  scene.seat?.write?.(tone(hz.supervisor, 160));
  scene.desk.mode = 'whisper';
  expect(tap.read(new Int16Array(160))).toBe(false);
});

it('takes a new seat when the call changes to another rate, and goes on in its mode', () => {
  const scene = new Scene();
  expect(scene.second(8000, 'barge').near).toEqual(['far', 'supervisor']);
  expect(scene.second(16_000, null).near).toEqual(['far', 'supervisor']);
  expect(scene.second(16_000, null).near).toEqual(['far', 'supervisor']);
  expect(scene.seats).toBe(2);
});

it('speaks to a caller who is with nobody', () => {
  const scene = new Scene();
  const tap = scene.desk.tap(null);
  scene.desk.mode = 'take_over';
  scene.seat?.write?.(tone(hz.supervisor, 160));
  const frame = new Int16Array(160);
  expect(tap.read(frame)).toBe(true);
  expect(frame).toEqual(tone(hz.supervisor, 160));
});

it('keeps the keys of the caller from the agent after a takeover', () => {
  const scene = new Scene();
  scene.second(8000, 'barge');
  scene.second(8000, 'take_over');
  expect(scene.keys).toEqual(['5']);
});

it.each([true, false])('comes with a tone for both parties: %s', (hasTone) => {
  const { begins } = new Scene({ tone: hasTone }).second(8000, 'listen', []);
  const isTone = (samples: number[]) => share(Int16Array.from(samples.slice(0, 1600)), 660) > 0.9;
  expect([isTone(begins.near), isTone(begins.far)]).toEqual([hasTone, hasTone]);
});

it('leaves its leg when it is closed', () => {
  const scene = new Scene();
  scene.desk.tap(null);
  scene.desk.close();
  expect(scene.seat).toBe(null);
});

/**
 * The laboratory: the real programs, a provider of transcription and one of voices that speak the providers' protocols,
 * and callers who play recorded human speech over SIP with TLS and SRTP.
 */
import { systemClock } from '#shared/clock.ts';
import { percentile } from '../ears/judge.ts';
import { type Clip, isRecorded, recordings, type Speaker, speechMissing } from '../ears/recorded.ts';
import { level, random } from '../ears/scenes.ts';
import { releaseAll } from '../fakes/release.ts';
import { inTurn, silence } from '../fakes/sounds.ts';
import { callAndTalk } from '../programs/caller.ts';
import { eventually } from '../programs/eventually.ts';
import { TestSystem } from '../programs/harness.ts';
import { labKey } from '../speech/lab-server.ts';
import { AgentVoice } from './agent-voice.ts';
import { ListenServer } from './listen-server.ts';
import { Talker, type TalkerOptions } from './talker.ts';
import { KnownFrames, VoiceTracker } from './voice-tracker.ts';

/** Pause that ends a caller's turn in all nodes, ms: the delays above it are measured. */
export const pauseMs = 500;
/** Level of speech, dB below the loudest. */
export const speechDb = -20;

/** Numbers whose agents speak short sentences, and long ones. */
export const numbers = { short: '+14155550181', long: '+14155550182' } as const;
export type Agent = keyof typeof numbers;

/** Length of a long text, seconds. */
const longSeconds = 110;
/** Words said in a second, as people speak. */
const wordsASecond = 2.5;
const texts = {
  short: ['one', 'two', 'three'].map((name) => `This is short answer ${name}.`),
  // As many words as the sound has: where a word began is estimated from both.
  long: ['one', 'two', 'three'].map(
    (name) => `Story ${name}:${' and so on'.repeat((longSeconds * wordsASecond) / 3)}.`,
  ),
} as const;

export interface Sounds {
  /** What callers say: whole sentences, and short words. */
  readonly sentences: readonly Clip[];
  readonly words: readonly Clip[];
}

export class Laboratory {
  readonly sounds: Sounds;
  readonly #system: TestSystem;
  readonly #listen: ListenServer;
  readonly #voice: AgentVoice;
  readonly #talkers = new Set<Talker>();
  readonly #frames = new Map<Agent, KnownFrames>();
  #latenessMs: number[] = [];
  #running = true;

  private constructor(system: TestSystem, listen: ListenServer, voice: AgentVoice, sounds: Sounds) {
    this.#system = system;
    this.#listen = listen;
    this.#voice = voice;
    this.sounds = sounds;
    void this.#tick();
  }

  /** @param callers whose recordings they play @throws Error when they are not installed */
  static async start(callers: readonly Speaker[], seed: number): Promise<Laboratory> {
    if (!isRecorded('english')) throw new Error(speechMissing);
    const listen = await new ListenServer(systemClock).listen();
    const voice = await new AgentVoice().listen();
    const stories = await recordings('english', { from: 1500, to: 8000 });
    const next = random(seed);
    const any = (clips: readonly Clip[]) => clips[Math.floor(next() * clips.length)]?.samples ?? silence(0);
    for (const [i, text] of texts.short.entries())
      voice.speaks(text, level(any(stories).subarray(0, 6400), speechDb), i);
    for (const [i, text] of texts.long.entries()) {
      const parts: Int16Array[] = [];
      for (let length = 0; length < longSeconds * 8000; length += parts.at(-1)?.length ?? 1)
        parts.push(inTurn(level(any(stories), speechDb), silence(200)));
      voice.speaks(text, inTurn(...parts), 10 + i);
    }
    const system = await TestSystem.start({
      STT_BASE_URL: listen.url.href,
      STT_API_KEY: labKey,
      TTS_BASE_URL: voice.url.href,
      TTS_API_KEY: labKey,
    });
    const sounds = { sentences: [] as Clip[], words: [] as Clip[] };
    for (const speaker of callers.filter(isRecorded)) {
      sounds.sentences.push(...(await recordings(speaker, { from: 1200, to: 3000 })));
      sounds.words.push(...(await recordings(speaker, { from: 250, to: 600 }, 'digits')));
    }
    const laboratory = new Laboratory(system, listen, voice, sounds);
    for (const agent of ['short', 'long'] as const) await laboratory.#attach(agent);
    return laboratory;
  }

  async call(agent: Agent, options: TalkerOptions): Promise<Talker> {
    const before = this.#listen.newest;
    let talker: Talker | null = null;
    const caller = await callAndTalk(
      this.#system,
      numbers[agent],
      {},
      {
        record: false,
        onPacket: (packet) => talker?.hear(packet, performance.now()),
      },
    );
    const silent = Buffer.alloc(160, 0xff);
    const session = await eventually('the connection for transcription', () => {
      caller.media.send(silent);
      const { newest } = this.#listen;
      return newest !== before && newest ? newest : null;
    });
    talker = new Talker(caller, session, new VoiceTracker(this.#framesOf(agent)), options);
    this.#talkers.add(talker);
    return talker;
  }

  #framesOf(agent: Agent): KnownFrames {
    const known =
      this.#frames.get(agent) ??
      new KnownFrames(new Map(texts[agent].map((text) => [text, this.#voice.framesOf(text)])));
    this.#frames.set(agent, known);
    return known;
  }

  async hangup(talker: Talker): Promise<void> {
    this.#talkers.delete(talker);
    await talker.hangup();
  }

  /** How late the callers' own clock was since the last time that it was asked for, ms, p99. */
  takeLateness(): number {
    const late = this.#latenessMs.toSorted((a, b) => a - b);
    this.#latenessMs = [];
    return percentile(late, 0.99) ?? 0;
  }

  async stop(): Promise<void> {
    this.#running = false;
    await releaseAll(
      () => this.#system.stop(),
      () => this.#listen.close(),
      () => this.#voice.close(),
    );
  }

  async #attach(agent: Agent): Promise<void> {
    const { api } = this.#system;
    const nodes = texts[agent].map((text, i) => ({
      id: `n${i}`,
      type: 'Default',
      data: { name: `n${i}`, text, isStart: i === 0, endOfTurn: { pauseMs } },
    }));
    const edges = nodes.map(({ id }, i) => ({
      id: `e${i}`,
      source: id,
      target: `n${(i + 1) % nodes.length}`,
      label: 'anything',
    }));
    const pathway_id = await api.pathway(agent, nodes, edges);
    await api.attach(numbers[agent]);
    await api.answerWith(numbers[agent], { pathway_id });
    await api.applied(numbers[agent]);
  }

  /** One clock for all callers. */
  async #tick(): Promise<void> {
    const start = performance.now();
    for (let tick = 0; this.#running; tick++) {
      const due = start + tick * 20;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      this.#latenessMs.push(performance.now() - due);
      for (const talker of this.#talkers) talker.tick();
    }
  }
}

/** A realtime agent, its laboratory server, and a call whose time the test advances. */
import { FakeClock } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { modelServer } from '../../../edge/agent/realtime/model-server.ts';
import type { RealtimeDeps } from '../../../edge/agent/realtime/realtime-agent.ts';
import { RealtimeAgent, type RealtimeSettings } from '../../../edge/agent/realtime/realtime-agent.ts';
import { type RealtimeLimits, realtimeLimits } from '../../../edge/agent/realtime/realtime-limits.ts';
import { call, countingVoice, manner, RecordingHost, RecordingLog } from '../edge/agent.ts';
import { wireSettled } from '../wire.ts';
import { type LabServer, labKey } from './lab-server.ts';
import { quiet, spoken } from './words.ts';

/** Long enough for a machine with much other work. */
const untilMs = 30_000;

interface Setup {
  readonly settings?: Partial<RealtimeSettings>;
  readonly limits?: Partial<RealtimeLimits>;
  readonly tools?: RealtimeDeps['tools'];
  readonly apiKey?: string;
  readonly codec?: CodecName;
}

export class RealtimeScene {
  readonly clock = new FakeClock();
  readonly host = new RecordingHost();
  readonly log = new RecordingLog();
  readonly agent: RealtimeAgent;

  constructor(protocol: 'openai' | 'gemini' | 'elevenlabs', lab: LabServer, setup: Setup = {}) {
    const { settings, limits, tools = null, apiKey = labKey, codec = null } = setup;
    const organization = {
      org_id: call.orgId,
      signing_secret: 'c0ffee',
      realtime: [{ id: 'connection', protocol, url: lab.url.href, model: 'talker', api_key: apiKey }],
    };
    let ids = 0;
    const prompt = 'Book tables for {{restaurant}}.';
    this.agent = new RealtimeAgent(
      {
        kind: 'realtime',
        connection_id: 'connection',
        prompt,
        ...manner,
        request_data: { restaurant: 'Ada' },
        ...settings,
      },
      { ...call, codec },
      this.host,
      {
        ...modelServer(organization, 'connection'),
        allowed: () => parseNetworks(['127.0.0.1']),
        resolve: async () => ['127.0.0.1'],
        ca: undefined,
        clock: this.clock,
        log: this.log,
        newId: () => `line-${++ids}`,
        tts: countingVoice,
        tools,
        limits: { ...realtimeLimits, ...limits },
      },
    );
  }

  async begin(): Promise<this> {
    await this.agent.prepare();
    this.agent.start();
    return this;
  }

  /** The caller says known words, and then nothing for a while. */
  say(sentence: string, silenceMs = 400): void {
    const { sampleRate } = this.agent;
    for (const frame of [...spoken(sentence, sampleRate), ...quiet(silenceMs, sampleRate)])
      this.agent.write(frame);
  }

  /** Plays frames of 20 ms. @returns how many had sound */
  play(frames: number): number {
    const frame = new Int16Array(this.agent.sampleRate / 50);
    let loud = 0;
    for (let i = 0; i < frames; i++) if (this.agent.read(frame)) loud++;
    return loud;
  }

  /** Plays until the sound ends. @returns its length, ms */
  playAll(): number {
    let ms = 0;
    while (this.play(1) > 0) ms += 20;
    return ms;
  }

  /** Waits for what sockets of this process bring; `is` may let time pass. */
  async until(what: string, is: () => boolean): Promise<void> {
    const deadline = Date.now() + untilMs;
    while (!is()) {
      if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
      await wireSettled();
    }
  }

  get lines(): string[] {
    return this.host.lines('user', 'assistant', 'agent-action');
  }
}

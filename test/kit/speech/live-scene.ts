/** A live transcription over real sockets, with a caller whose time the test advances. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FakeClock } from '#shared/clock.ts';
import { type LiveDeps, transcriptionLimits } from '../../../edge/agent/transcription/live-deps.ts';
import type { TranscriptionProvider } from '../../../edge/agent/transcription/provider.ts';
import { ProviderChoice } from '../../../edge/agent/transcription/provider-choice.ts';
import { type SocketProtocol, socketProvider } from '../../../edge/agent/transcription/socket-provider.ts';
import { createTranscriber } from '../../../edge/agent/transcription/transcriber.ts';
import type {
  HeardWords,
  Transcription,
  TranscriptionOptions,
} from '../../../edge/agent/transcription/transcription.ts';
import { RecordingLog } from '../edge/agent.ts';
import { wireSettled } from '../wire.ts';
import { labKey } from './lab-server.ts';
import { quiet, spoken } from './words.ts';

/** Long enough for a machine with much other work. */
const untilMs = 30_000;

export class LiveScene {
  readonly clock: FakeClock;
  readonly log = new RecordingLog();
  /** Counts of the meter, and how often a time was measured. */
  readonly counts: Record<string, number> = {};
  readonly partials: HeardWords[] = [];
  readonly finals: HeardWords[] = [];
  readonly turns: string[] = [];
  readonly failures: string[] = [];
  readonly transcription: Transcription;

  constructor(
    providers: readonly [TranscriptionProvider, ...TranscriptionProvider[]],
    clock = new FakeClock(),
    {
      limits = {},
      options = {},
    }: { limits?: Partial<LiveDeps['limits']>; options?: Partial<TranscriptionOptions> } = {},
  ) {
    this.clock = clock;
    const count = (what: string) => {
      this.counts[what] = (this.counts[what] ?? 0) + 1;
    };
    const transcriber = createTranscriber({
      choice: new ProviderChoice(providers, clock),
      clock,
      log: this.log,
      meter: { count, took: count },
      limits: { ...transcriptionLimits, ...limits },
    });
    this.transcription = transcriber.open(
      { sampleRate: 8000, language: 'en-US', keyTerms: [], ...options },
      {
        partial: (words) => this.partials.push(words),
        final: (words) => this.finals.push(words),
        turn: (signal) => this.turns.push(signal),
        failed: (error) => this.failures.push(error.message),
      },
    );
  }

  /** Speaks a turn as a detector sees it: it begins 60 ms late and ends after 400 ms of silence. */
  async say(sentence: string): Promise<void> {
    await this.talk(sentence);
    await this.hear(quiet(400));
    this.transcription.end();
  }

  /** The same without the end. @param lateMs by which the detector is later than that */
  async talk(sentence: string, lateMs = 0): Promise<void> {
    const frames = spoken(sentence);
    const noticed = 3 + lateMs / 20;
    await this.hear(frames.slice(0, noticed));
    this.transcription.begin(lateMs);
    await this.hear(frames.slice(noticed));
  }

  /** Frames in the caller's time; the sockets work in between. */
  async hear(frames: readonly Int16Array[]): Promise<void> {
    for (const frame of frames) {
      this.transcription.write(frame);
      this.clock.advance(20);
      await wireSettled();
    }
  }

  /** Texts of the finals, when there are `count` of them. */
  async texts(count: number): Promise<string[]> {
    await this.until(() => this.finals.length >= count);
    return this.finals.map(({ text }) => text);
  }

  /** @throws Error when it never holds, instead of an endless loop in a test that has failed */
  async until(holds: () => boolean): Promise<void> {
    const limit = AbortSignal.timeout(untilMs);
    while (!holds()) {
      if (limit.aborted) throw new Error(`it did not come: ${holds}; heard ${JSON.stringify(this.finals)}`);
      await nextTurn();
    }
  }

  /** Lets `ms` pass, while the sockets work. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20) {
      this.clock.advance(20);
      await wireSettled();
    }
  }
}

export function providerAt(
  protocol: SocketProtocol,
  url: URL,
  model: string,
  clock: FakeClock,
): TranscriptionProvider {
  return socketProvider(protocol, { url, apiKey: labKey, model }, { clock });
}

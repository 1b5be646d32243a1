/**
 * Tells a mailbox from a person by how a call of ours is answered: by the cadence of the greeting and by the beep.
 * Takes 20 ms frames of what the callee sends at 8 kHz; no clock, no model, no allocation per frame.
 *
 *     [ waiting ] --voice--> [ greeting ] --pause--> human
 *          |                   |    | goes on for some seconds
 *          |                   |    +--> [ suspected ] --long pause--> human
 *          |                   |              | goes on and on
 *          |                   |              +--> voicemail
 *          |                   +--beep, suspected or not--> voicemail
 *          +--nothing in time--> unknown
 *
 * Some people say a long hello, the name of their company in it. So length alone makes no mailbox: a greeting of some
 * seconds only earns a longer wait for the beep.
 */
import { BeepFollower } from './beep.ts';
import { ToneEar } from './tone-ear.ts';
import { quietest, VoiceMeter } from './voice-meter.ts';

const frameMs = 20;
/** ms of voice that are a word: less is a click or a breath. */
const wordMs = 100;
/** ms of voice before a beep: without them it is a tone of the network, such as a European ringing tone. */
const voiceBeforeBeepMs = 300;
/** Share of a long greeting that must be voice: people who talk with our agent leave more gaps than a recording. */
const recordedShare = 0.5;

export interface AnsweringLimits {
  /** ms after the answer within which it is decided; then it is `unknown` */
  readonly watchMs: number;
  /** ms of greeting without a pause that only a recording has: people have said hello by then, and wait */
  readonly greetingMs: number;
  /** ms of greeting that are long for a person */
  readonly suspectMs: number;
  /** ms of silence after the greeting in which a person waits for us: a recording pauses for less */
  readonly pauseMs: number;
  /** the same after a long greeting: many a mailbox takes some time to beep */
  readonly suspectPauseMs: number;
  /** ms of silence after which a mailbox that has not beeped is taken to record */
  readonly silenceMs: number;
  /** ms after the decision when it is taken to record whatever it sends */
  readonly patienceMs: number;
}

export const answeringLimits: AnsweringLimits = {
  watchMs: 20_000,
  greetingMs: 10_000,
  suspectMs: 4000,
  pauseMs: 1200,
  suspectPauseMs: 3000,
  silenceMs: 3000,
  patienceMs: 60_000,
};

export type Answerer = 'human' | 'voicemail' | 'unknown';

export class AnsweringDetector {
  readonly #limits: AnsweringLimits;
  readonly #tones = new ToneEar();
  readonly #voice = new VoiceMeter();
  readonly #beep = new BeepFollower();
  /** Since the first sound of the greeting. */
  #greetingMs = 0;
  /** The longest that was spoken without a pause: for as long as nobody has paused. */
  #spokenMs = 0;
  #paused = false;
  #heardMs = 0;
  #verdict: Answerer | null = null;
  #verdictAtMs = 0;
  /** Beeps before the greeting, which are none of a mailbox. */
  #foreignBeeps = 0;

  constructor(limits: AnsweringLimits) {
    this.#limits = limits;
  }

  /** null as long as it is not decided. */
  get verdict(): Answerer | null {
    return this.#verdict;
  }

  /** Whether a mailbox records by now: its beep is over, or it has been silent for long. */
  get records(): boolean {
    if (this.#verdict !== 'voicemail' || this.#beep.beeping) return false;
    const { silenceMs, patienceMs } = this.#limits;
    const beeped = this.#beep.heard > this.#foreignBeeps;
    return beeped || this.#voice.quietMs >= silenceMs || this.#heardMs - this.#verdictAtMs >= patienceMs;
  }

  /** Takes 160 samples. */
  write(frame: Int16Array): void {
    this.#heardMs += frameMs;
    const level = rms(frame);
    const tonality = this.#tones.hear(frame, level > quietest);
    this.#voice.write(level, tonality, this.#tones.pitchHz);
    this.#beep.write(tonality, this.#tones.pitchHz);
    if (this.#verdict === null) this.#decide();
  }

  #decide(): void {
    const { watchMs, greetingMs, suspectMs, pauseMs, suspectPauseMs } = this.#limits;
    const { voiceMs, quietMs } = this.#voice;
    const afterGreeting = voiceMs >= voiceBeforeBeepMs;
    if (!afterGreeting) this.#foreignBeeps = this.#beep.heard;
    this.#greetingMs = voiceMs > 0 ? this.#greetingMs + frameMs : 0;
    const voice = voiceMs >= recordedShare * (this.#greetingMs - quietMs);
    if (!this.#paused && voice) this.#spokenMs = this.#greetingMs - quietMs;
    const suspected = this.#spokenMs >= suspectMs;
    const spoken = voiceMs >= wordMs;
    if (this.#spokenMs >= greetingMs || (this.#beep.beeping && afterGreeting)) this.#say('voicemail');
    else if (spoken && quietMs >= (suspected ? suspectPauseMs : pauseMs)) this.#say('human');
    else if (this.#heardMs >= watchMs) this.#say(this.#paused ? 'human' : 'unknown');
    else if (quietMs < pauseMs) return;
    else if (spoken) this.#paused = true;
    else this.#voice.reset();
  }

  #say(verdict: Answerer): void {
    this.#verdict = verdict;
    this.#verdictAtMs = this.#heardMs;
  }
}

function rms(frame: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < frame.length; i++) {
    const sample = frame[i] ?? 0;
    sum += sample * sample;
  }
  return Math.sqrt(sum / Math.max(1, frame.length));
}

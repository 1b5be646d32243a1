/**
 * Detects from the greeting's cadence and the beep whether a person or voicemail answered an outbound call.
 * Takes the callee's audio in 20 ms frames at 8 kHz; no clock. Voices are those of the ears' detector, where its second
 * stage can be run, and otherwise sounds that are loud for long.
 *
 *     [ waiting ] --voice--> [ greeting ] --pause--> human
 *          |                   |    | continues for some seconds
 *          |                   |    +--> [ suspected ] --long pause--> human
 *          |                   |              | keeps going
 *          |                   |              +--> voicemail
 *          |                   +--beep, suspected or not--> voicemail
 *          +--nothing in time--> unknown
 *
 * Some people answer with a long greeting, such as a company name. So length alone is not enough: a greeting of some
 * seconds only extends the wait for the beep.
 */
import type { VoiceDetector, VoiceDetectors } from '../ears/voice-detector.ts';
import { AfterWords } from './after-words.ts';
import { BeepFollower } from './beep.ts';
import type { AnsweringLimits } from './limits.ts';
import { SpokenMeter } from './spoken-meter.ts';
import { ToneDetector } from './tone-detector.ts';
import { quietest, VoiceMeter } from './voice-meter.ts';

const frameMs = 20;
/** Shortest voice that counts as a word, ms: less is a click or a breath. */
const wordMs = 100;
/** ms of voice before a beep; without it the tone comes from the network, such as a European ringing tone. */
const voiceBeforeBeepMs = 300;
/** Minimum share of voice in a recorded greeting: people talking with our agent leave longer gaps. */
const recordedShare = 0.5;

/** Who answered, by cadence and tones. */
export type Answerer = 'human' | 'voicemail' | 'unknown';

export class AnsweringDetector {
  readonly #limits: AnsweringLimits;
  readonly #tones = new ToneDetector();
  readonly #loud = new VoiceMeter();
  /** null: voices are told by their loudness. */
  readonly #spoken: SpokenMeter | null;
  #ear: VoiceDetector | null = null;
  readonly #beep = new BeepFollower();
  readonly #after = new AfterWords();
  /** Since the first sound of the greeting. */
  #greetingMs = 0;
  /** Longest stretch of speech without a pause. */
  #spokenMs = 0;
  #paused = false;
  #heardMs = 0;
  #verdict: Answerer | null = null;
  #verdictAtMs = 0;
  /** Beeps before the greeting, which do not come from voicemail. */
  #foreignBeeps = 0;

  /** @param voices that are loaded; null: loudness tells */
  constructor(limits: AnsweringLimits, voices: VoiceDetectors | null) {
    this.#limits = limits;
    const spoken = voices && new SpokenMeter();
    this.#spoken = spoken;
    if (spoken) this.#ear = voices.create(8000, (ms, probability) => spoken.judged(ms, probability));
  }

  /** Releases the voice detector; nothing is heard from then on. Safe to call twice. */
  close(): void {
    this.#ear?.close();
    this.#ear = null;
  }

  get #voice(): Pick<VoiceMeter, 'voiceMs' | 'quietMs' | 'reset'> {
    return this.#spoken ?? this.#loud;
  }

  /** null until decided. */
  get verdict(): Answerer | null {
    return this.#verdict;
  }

  /** Whether voicemail is recording now: its beep is over, or it has been silent for long. */
  get records(): boolean {
    if (this.#verdict !== 'voicemail' || this.#beep.beeping) return false;
    const { silenceMs, patienceMs } = this.#limits;
    const beeped = this.#beep.heard > this.#foreignBeeps;
    return beeped || this.#voice.quietMs >= silenceMs || this.#heardMs - this.#verdictAtMs >= patienceMs;
  }

  /** Voicemail answered, as its words tell, whatever was decided before. */
  isVoicemail(): void {
    if (this.#verdict !== 'voicemail') this.#say('voicemail');
  }

  /** Takes 160 samples. */
  write(frame: Int16Array): void {
    this.#heardMs += frameMs;
    const level = rms(frame);
    const tonality = this.#tones.hear(frame, level > quietest);
    if (this.#spoken) this.#spoken.write(tonality, this.#tones.pitchHz);
    else this.#loud.write(level, tonality, this.#tones.pitchHz);
    this.#ear?.write(frame);
    this.#beep.write(tonality, this.#tones.pitchHz);
    this.#after.write(level, this.#voice.voiceMs, this.#voice.quietMs);
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
    // Noise comes and goes: what seems to be music for a moment is listened to for longer.
    const music = this.#spoken !== null && quietMs >= pauseMs && this.#after.goesOn;
    if (this.#spokenMs >= greetingMs || (this.#beep.beeping && afterGreeting)) this.#say('voicemail');
    else if (spoken && quietMs >= (suspected ? suspectPauseMs : pauseMs) && !music) this.#say('human');
    else if (this.#heardMs >= watchMs) this.#say(this.#paused ? 'human' : 'unknown');
    else if (music && quietMs >= suspectPauseMs) this.#voice.reset();
    else if (music) return;
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

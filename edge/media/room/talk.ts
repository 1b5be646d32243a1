/**
 * Whether one party of a conference speaks. A voice of 200 ms begins it, and a second without a voice ends it: coughs and
 * breaths begin nothing, and the pauses of somebody who speaks end nothing. So a party changes twice in 1.2 s at most.
 */
const beginsMs = 200;
const endsMs = 1000;
/** After a pause of this length a voice is a new one. */
const gapMs = 300;
/** What the first stage of detection hears alone counts too. */
const voiceAt = 0.45;

/** Of the edge's detectors of voices (edge/agent/ears). */
export interface RoomVoices {
  load(): Promise<void>;
  create(
    sampleRate: 8000 | 16000,
    judged: (ms: number, probability: number) => void,
  ): { write(frame: Int16Array): void; close(): void };
}

export class Talk {
  readonly #voices: RoomVoices;
  readonly #changed: (speaks: boolean) => void;
  readonly #failed: (error: unknown) => void;
  #rate: 8000 | 16000;
  #detector: ReturnType<RoomVoices['create']> | null = null;
  #closed = false;
  #speaks = false;
  #voiceMs = 0;
  #silentMs = 0;

  /** @param failed called when there is no detector, so that nothing will be heard */
  constructor(
    sampleRate: 8000 | 16000,
    voices: RoomVoices,
    changed: (speaks: boolean) => void,
    failed: (error: unknown) => void,
  ) {
    this.#rate = sampleRate;
    this.#voices = voices;
    this.#changed = changed;
    this.#failed = failed;
    this.#listen();
  }

  /** Its sound has this rate from now on; a voice that goes on is the same one. */
  retune(sampleRate: 8000 | 16000): void {
    if (sampleRate === this.#rate) return;
    this.#rate = sampleRate;
    this.#detector?.close();
    this.#detector = null;
    this.#listen();
  }

  #listen(): void {
    const voices = this.#voices;
    const make = () => {
      if (this.#closed || this.#detector) return;
      const detector = voices.create(this.#rate, (...judged) => {
        if (this.#detector === detector) this.#judged(...judged);
      });
      this.#detector = detector;
    };
    voices.load().then(make).catch(this.#failed);
  }

  /** Takes 20 ms of what the others hear of the party. */
  write(frame: Int16Array): void {
    this.#detector?.write(frame);
  }

  /** It speaks no more. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#detector?.close();
    this.#detector = null;
    this.#set(false);
  }

  #judged(ms: number, probability: number): void {
    if (probability >= voiceAt) {
      this.#voiceMs += ms;
      this.#silentMs = 0;
    } else {
      this.#silentMs += ms;
      if (this.#silentMs >= gapMs) this.#voiceMs = 0;
    }
    if (this.#voiceMs >= beginsMs) this.#set(true);
    else if (this.#silentMs >= endsMs) this.#set(false);
  }

  #set(speaks: boolean): void {
    if (this.#speaks === speaks) return;
    this.#speaks = speaks;
    this.#changed(speaks);
  }
}

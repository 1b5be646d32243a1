/** How loud both sides are, for the meters. */

/** From 0, silence, to 1, as loud as can be. */
export interface Levels {
  readonly own: number;
  readonly other: number;
}

const everyMs = 100;
/** What counts as silence, dB below full scale. */
const quietestDb = 60;

export class Meters {
  readonly #context = new AudioContext();
  readonly #timer: number;
  readonly #show: (levels: Levels) => void;
  #own: AnalyserNode | null = null;
  #other: AnalyserNode | null = null;

  constructor(show: (levels: Levels) => void) {
    this.#show = show;
    this.#timer = window.setInterval(
      () => show({ own: levelOf(this.#own), other: levelOf(this.#other) }),
      everyMs,
    );
  }

  measureOwn(stream: MediaStream): void {
    this.#own?.disconnect();
    this.#own = this.#measure(stream);
  }

  measureOther(stream: MediaStream): void {
    this.#other?.disconnect();
    this.#other = this.#measure(stream);
  }

  close(): void {
    window.clearInterval(this.#timer);
    this.#show({ own: 0, other: 0 });
    void this.#context.close();
  }

  #measure(stream: MediaStream): AnalyserNode {
    const meter = new AnalyserNode(this.#context, { fftSize: 1024 });
    new MediaStreamAudioSourceNode(this.#context, { mediaStream: stream }).connect(meter);
    return meter;
  }
}

function levelOf(meter: AnalyserNode | null): number {
  if (!meter) return 0;
  const samples = new Float32Array(meter.fftSize);
  meter.getFloatTimeDomainData(samples);
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const level = 1 + (10 * Math.log10(power + 1e-12)) / quietestDb;
  return Math.min(1, Math.max(0, level));
}

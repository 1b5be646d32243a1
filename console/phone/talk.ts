/** What one call is made of in a page: the microphone, the line, the player of the other side, and the meters. */
import { type Levels, Meters } from './levels.ts';
import type { Line, LineCredentials, LineEvents } from './line.ts';
import { stopMicrophone } from './microphone.ts';

export interface TalkEvents extends Omit<LineEvents, 'up'> {
  readonly up: () => void;
  /** The other side is not heard: the page may not play sound. */
  readonly unheard: (error: unknown) => void;
}

export class Talk {
  readonly player = new Audio();
  line: Line | null = null;
  readonly #meters: Meters;
  #microphone: MediaStream;
  readonly #moved = () => this.line?.moved();

  /** @param microphone is stopped at the end */
  constructor(microphone: MediaStream, showLevels: (levels: Levels) => void) {
    this.#microphone = microphone;
    this.#meters = new Meters(showLevels);
    this.#meters.measureOwn(microphone);
    window.addEventListener('online', this.#moved);
  }

  /** @param Type the line's class: with it comes sip.js, which a page may load late */
  begin(Type: typeof Line, credentials: LineCredentials, events: TalkEvents): Promise<void> {
    this.line = new Type(credentials, this.#microphone, {
      ...events,
      up: (sound) => {
        events.up();
        this.#meters.measureOther(sound);
        this.player.srcObject = sound;
        void this.player.play().catch(events.unheard);
      },
    });
    return this.line.begin();
  }

  /** From now on; the former one is stopped. */
  async useMicrophone(microphone: MediaStream): Promise<void> {
    const former = this.#microphone;
    this.#microphone = microphone;
    this.#meters.measureOwn(microphone);
    await this.line?.useMicrophone(microphone);
    stopMicrophone(former);
  }

  close(): void {
    window.removeEventListener('online', this.#moved);
    stopMicrophone(this.#microphone);
    this.#meters.close();
    this.player.srcObject = null;
  }
}

/** Somebody else's desk behind a trunk, in sound: it answers an edge's simulated caller, and shares no code with the edge. */
import { expect } from 'vitest';
import type { Flite } from '#shared/models/flite.ts';
import { encodeMulaw } from '../fakes/audio.ts';
import { SrtpPeer } from '../fakes/srtp-peer.ts';
import type { TestTrunk, TrunkCall } from './trunk.ts';

const silence = Buffer.alloc(160, 0xff);
/** A sample of speech is louder than this; the codec's own noise is not. */
export const loud = 1000;
export const sounds = (samples: Int16Array) => samples.some((sample) => Math.abs(sample) > loud);

export class TheirDesk {
  readonly #call: TrunkCall;
  readonly #voice: SrtpPeer;
  readonly #flite: Flite;
  readonly #hangsUp = new AbortController();
  readonly #waiting: { readonly frames: Buffer[]; readonly played: () => void }[] = [];

  private constructor(call: TrunkCall, voice: SrtpPeer, flite: Flite) {
    this.#call = call;
    this.#voice = voice;
    this.#flite = flite;
  }

  static async answer(trunk: TestTrunk, flite: Flite): Promise<TheirDesk> {
    const call = await trunk.call();
    const voice = await SrtpPeer.open();
    voice.connect(call.invite.body);
    call.answer('200 OK', voice.sdp());
    await call.expect('ACK');
    return new TheirDesk(call, voice, flite);
  }

  get invite(): string {
    return this.#call.invite.raw;
  }

  get keys(): string {
    return this.#voice.events.map(({ digit }) => digit).join('');
  }

  /** Resolves when it has said it. */
  async say(text: string): Promise<void> {
    const samples = await this.#flite.synthesize(text, { voice: null, language: 'en-US', sampleRate: 8000 });
    const count = Math.floor(samples.length / 160);
    const frames = Array.from({ length: count }, (_, i) =>
      encodeMulaw(samples.subarray(i * 160, (i + 1) * 160)),
    );
    await new Promise<void>((played) => this.#waiting.push({ frames, played }));
  }

  /** Sends what it says, and silence, until it hangs up. */
  async speak(): Promise<void> {
    while (!this.#hangsUp.signal.aborted) {
      const next = this.#waiting.shift();
      await this.#voice.play(next?.frames ?? [silence]);
      next?.played();
    }
    this.#voice.close();
  }

  hears(done: () => boolean): Promise<void> {
    return this.#voice.when(done);
  }

  /** Resolves when the caller has spoken, and been silent for a second. */
  async heardOut(): Promise<void> {
    await this.#voice.when(() => sounds(this.#voice.samples(160)));
    await this.#voice.when(() => !sounds(this.#voice.samples(8000)));
  }

  async transfer(to: string): Promise<void> {
    expect((await this.#call.refer(to)).status).toBe(202);
  }

  /** Resolves when the caller has hung up. */
  async left(): Promise<void> {
    await this.#call.expect('BYE');
    this.#hangsUp.abort();
  }

  async hangUp(): Promise<void> {
    await this.#call.hangUp();
    this.#hangsUp.abort();
  }
}

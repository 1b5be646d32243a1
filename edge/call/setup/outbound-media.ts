/**
 * The media of an outbound call, from the offer to the final answer.
 *
 *     begin -> offer -> early(sdp)* -> answer(sdp)
 *                                         | the same session: accepted
 *                                         | a fork other than that of the early media: new media leg, re-INVITE
 */
import type { CodecName } from '#shared/codecs.ts';
import type { Call } from '../call.ts';
import type { MediaLegOptions } from '../ports/media.ts';
import { CallRefused } from '../refused.ts';

export class OutboundMedia {
  readonly #call: Call;
  #codecs: readonly CodecName[] = [];
  #beside: MediaLegOptions['beside'];
  #early: { readonly sdp: string; readonly accepted: Promise<boolean> } | null = null;
  #renegotiated: () => void = () => {};

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Replaces the media leg by a new one.
   * @param codecs in preference order
   * @param beside media leg that the call will be bridged to
   * @returns its offer; null when the call has ended in the meantime
   * @throws CallRefused 503 when no RTP port is free
   */
  async begin(
    codecs: readonly CodecName[],
    beside?: MediaLegOptions['beside'] | null,
  ): Promise<string | null> {
    const call = this.#call;
    this.#codecs = codecs;
    this.#early = null;
    this.#beside = beside ?? undefined;
    const media = await call.createMedia(this.#codecs, this.#beside);
    if (!media) return null;
    const offer = await media.offer();
    return call.termination ? null : offer;
  }

  /** Early media: sets up and measures the path; the agent hears nothing before the answer. */
  early(sdp: string): void {
    const { media, log } = this.#call;
    if (this.#early || !media) return;
    const accepted = media.accept(sdp).then(
      () => true,
      (error: unknown) => {
        log.info({ err: error }, 'early media is unusable');
        return false;
      },
    );
    this.#early = { sdp, accepted };
  }

  /**
   * Takes the answer of the 200; null when it had no SDP.
   * @param renegotiate sends a re-INVITE with what the new media leg offers
   * @throws CallRefused when there is no usable answer
   */
  async answer(sdp: string | null, renegotiate: () => void): Promise<void> {
    const call = this.#call;
    const early = (await this.#early?.accepted) === true;
    if (call.termination || (early && (sdp === null || sdp === this.#early?.sdp))) return;
    if (sdp === null) throw new CallRefused(488, 'The 200 carried no answer to our offer.');
    try {
      await call.media?.accept(sdp);
    } catch (error) {
      // RFC 3261 section 13.2.2.4: a fork other than that of the early media has answered.
      if (!early || !(error instanceof CallRefused) || call.termination) throw error;
      await this.#beginAnew(renegotiate);
    }
  }

  /** The answer to our re-INVITE is accepted. */
  renegotiated(): void {
    this.#renegotiated();
  }

  /** The early answer cannot be undone, so a new media leg replaces this one. */
  async #beginAnew(renegotiate: () => void): Promise<void> {
    this.#call.log.info({}, 'the answer differs from its early media; sending a new offer');
    if ((await this.begin(this.#codecs, this.#beside)) === null) return;
    const done = new Promise<void>((resolve) => {
      this.#renegotiated = resolve;
    });
    renegotiate();
    await done;
  }
}

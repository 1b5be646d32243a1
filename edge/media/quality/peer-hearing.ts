/**
 * Whether the peer hears us, by its RTCP reports. A report has a block about each stream that its maker has heard
 * since its report before (RFC 3550 section 6.4), so one without a block about us, made when we have been sending for
 * longer than that, says that nothing of ours arrives. Some makers keep the block for good: then it is the highest
 * sequence number in it that stands still, although we send.
 */
import type { PeerHears } from '#shared/edge-protocol/calls.ts';

/** What is known at one look. The counts begin anew with each path. */
export interface HearingLook {
  readonly nowMs: number;
  /** Packets sent to the peer in all. */
  readonly sent: number;
  /** Sender and receiver reports of the peer. */
  readonly reports: number;
  /** Those of them that have a block about a stream of ours. */
  readonly aboutUs: number;
  /** Packets sent after the highest one that the peer has by the last of these; 0 while that number goes up. */
  readonly unheard: number;
  /** Share of our packets lost by the last of these, 0..1. */
  readonly loss: number | null;
}

/** RFC 3550 section 6.2: the least interval of reports, ms. */
const reportIntervalMs = 5000;
/** Packets sent on a number that stands still, 5 s of 20 ms audio: so much is lost in a row on no path that works. */
const unheardPackets = 250;
/** Some peers send a report without blocks beside one with them, so one alone takes nothing back. */
const silentReports = 2;

export class PeerHearing {
  #hears: PeerHears = 'unknown';
  #sent = 0;
  #reports = 0;
  #aboutUs = 0;
  #lookedAt = 0;
  /** Since when packets go out without a break. */
  #sendingSince: number | null = null;
  /** Reports without a word about us since the last one with it. */
  #silent = 0;
  #unheard = 0;
  #lossSum = 0;
  #losses = 0;

  get hears(): PeerHears {
    return this.#hears;
  }

  /** Packets that the peer did not hear by a report whose highest sequence number stands still; 0: it goes up. */
  get unheard(): number {
    return this.#unheard;
  }

  /** Mean of the losses reported, 0..1; null when there was no report about us. */
  get meanLoss(): number | null {
    return this.#losses === 0 ? null : this.#lossSum / this.#losses;
  }

  look({ nowMs, sent, reports, aboutUs, unheard, loss }: HearingLook): void {
    const begunAnew = reports < this.#reports || aboutUs < this.#aboutUs;
    const freshReports = begunAnew ? reports : reports - this.#reports;
    const freshAboutUs = begunAnew ? aboutUs : aboutUs - this.#aboutUs;
    // A report came at some time since the look before, so it is that moment at which we must have been sending long.
    const sentLong = this.#sendingSince !== null && this.#lookedAt - this.#sendingSince >= reportIntervalMs;
    if (freshAboutUs > 0 && unheard >= unheardPackets) {
      this.#hears = 'no';
      this.#unheard = unheard;
    } else if (freshAboutUs > 0) {
      // Too short a stand says nothing new about a peer that did not hear before it.
      if (unheard === 0 || this.#hears === 'unknown') this.#hears = 'yes';
      if (this.#hears === 'yes') this.#unheard = 0;
      this.#silent = 0;
      // A report on no new packet has no loss (RFC 3550 appendix A.3); the next one counts these packets.
      if (loss !== null && unheard === 0) {
        this.#lossSum += loss;
        this.#losses++;
      }
    } else if (freshReports > 0 && sentLong) {
      this.#silent += freshReports;
      if (this.#hears === 'unknown' || this.#silent >= silentReports) this.#hears = 'no';
    }
    if (sent === this.#sent || begunAnew) this.#sendingSince = null;
    if (sent > this.#sent) this.#sendingSince ??= nowMs;
    this.#sent = sent;
    this.#reports = reports;
    this.#aboutUs = aboutUs;
    this.#lookedAt = nowMs;
  }
}

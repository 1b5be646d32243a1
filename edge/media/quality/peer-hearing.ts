/**
 * Determines from the peer's RTCP reports whether it hears us. A report has a block for each stream received
 * since the previous report (RFC 3550 section 6.4). So a report without a block about us, made when we have been
 * sending for longer than that, shows that nothing of ours arrives. Some implementations keep the block forever:
 * then the highest sequence number in it stops although we send.
 */
import type { PeerHears } from '#shared/edge-protocol/calls.ts';

/** The state at one query. The counts restart with each path. */
export interface HearingLook {
  readonly nowMs: number;
  /** Total packets sent to the peer. */
  readonly sent: number;
  /** Sender and receiver reports from the peer. */
  readonly reports: number;
  /** Those with a block about a stream of ours. */
  readonly aboutUs: number;
  /** Packets sent after the highest one that the last of these acknowledges; 0 while that number advances. */
  readonly unheard: number;
  /** Share of our packets lost according to the last of these, 0..1. */
  readonly loss: number | null;
}

/** RFC 3550 section 6.2: the minimum report interval, ms. */
const reportIntervalMs = 5000;
/** Packets sent while the number does not advance, 5 s of 20 ms audio: no working path loses that many in a row. */
const unheardPackets = 250;
/** Some peers send a report without blocks next to one with them, so a single one does not change the result. */
const silentReports = 2;

export class PeerHearing {
  #hears: PeerHears = 'unknown';
  #sent = 0;
  #reports = 0;
  #aboutUs = 0;
  #lookedAt = 0;
  /** When the current uninterrupted sending began. */
  #sendingSince: number | null = null;
  /** Reports without a block about us since the last one with it. */
  #silent = 0;
  #unheard = 0;
  #lossSum = 0;
  #losses = 0;

  get hears(): PeerHears {
    return this.#hears;
  }

  /**
   * Packets that the peer did not hear, according to a report whose highest sequence number has stopped; 0: it
   * advances.
   */
  get unheard(): number {
    return this.#unheard;
  }

  /** Mean of the reported losses, 0..1; null when there was no report about us. */
  get meanLoss(): number | null {
    return this.#losses === 0 ? null : this.#lossSum / this.#losses;
  }

  look({ nowMs, sent, reports, aboutUs, unheard, loss }: HearingLook): void {
    const begunAnew = reports < this.#reports || aboutUs < this.#aboutUs;
    const freshReports = begunAnew ? reports : reports - this.#reports;
    const freshAboutUs = begunAnew ? aboutUs : aboutUs - this.#aboutUs;
    // The report arrived at some time since the previous query, so the sending time counts up to that query.
    const sentLong = this.#sendingSince !== null && this.#lookedAt - this.#sendingSince >= reportIntervalMs;
    if (freshAboutUs > 0 && unheard >= unheardPackets) {
      this.#hears = 'no';
      this.#unheard = unheard;
    } else if (freshAboutUs > 0) {
      // After too short a stop, a peer that did not hear us before still counts as not hearing.
      if (unheard === 0 || this.#hears === 'unknown') this.#hears = 'yes';
      if (this.#hears === 'yes') this.#unheard = 0;
      this.#silent = 0;
      // A report about no new packets has no loss (RFC 3550 appendix A.3); the next one counts these packets.
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

/**
 * Refused INVITEs, for the report of them: counted by source, reason and number, whatever their number. Somebody who sets
 * up a PBX sees the first ones within seconds; a flood costs a few rows a minute, because all more are gathered until the
 * minute is over. Nothing is reported while control is away: the counts go on.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import {
  longestRefusedText,
  mostRefusedOfReport,
  type RefusedInvites as Refused,
} from '#shared/edge-protocol/refused.ts';
import { hostKey } from '#shared/networks.ts';
import type { RefusalReason } from '#shared/refusals.ts';

/** How often it is looked whether something is to be reported, ms. */
const lookMs = 2_000;
const minuteMs = 60_000;
/** Entries that are reported within `lookMs` in a minute. */
const soonPerMinute = 20;
/** Sources with their reasons and numbers that are told apart in a minute: of strangers at one organization. */
const perStrangers = 20;
/** The same of the sources that an organization names: its own PBXs and carriers. */
const perKnown = 50;
/** Entries that are gathered, of all organizations. About 2 MB. */
const mostGathered = 2_000;
const longestDetail = 500;

/** One refused INVITE. */
export interface RefusedInvite {
  /** Of the called number; null: it is configured nowhere. */
  readonly orgId: string | null;
  readonly number: string | null;
  readonly source: string;
  /** Whether a configuration names the source. */
  readonly known: boolean;
  readonly reason: RefusalReason;
  readonly sipStatus: number;
  readonly unanswered: boolean;
  readonly detail: string | null;
  readonly from: string | undefined;
  readonly dialled: string;
  readonly userAgent: string | undefined;
  readonly sipCallId: string | undefined;
}

interface RefusedInvitesParts {
  readonly clock: Clock;
  /** Whether a report would reach control now. */
  readonly isReady: () => boolean;
  readonly report: (refused: Refused[]) => void;
  /** Whether the source has given right credentials lately: being asked for them is no refusal then. */
  readonly hasAuthenticated: (source: string) => boolean;
  /** Called for an INVITE that is in no entry, because there are too many. */
  readonly leftOut: () => void;
}

interface Entry {
  readonly refused: Refused;
  readonly address: string;
}

export class RefusedInvites {
  readonly #parts: RefusedInvitesParts;
  readonly #entries = new Map<string, Entry>();
  /** Entries of this minute, by organization, of strangers and of known sources. */
  readonly #counts = new Map<string, number>();
  #reportedSoon = 0;
  #since = 0;
  #timer: Timer | null = null;

  constructor(parts: RefusedInvitesParts) {
    this.#parts = parts;
  }

  note(invite: RefusedInvite): void {
    const now = this.#parts.clock.elapsed();
    if (!this.#timer && now - this.#since >= minuteMs) this.#beginMinute(now);
    const { who, key } = this.#entryOf(invite);
    const before = this.#entries.get(key)?.refused;
    if (!before && this.#entries.size >= mostGathered) {
      this.#parts.leftOut();
      return;
    }
    const at = new Date(this.#parts.clock.now()).toISOString();
    this.#entries.set(key, { refused: { ...who, ...counted(invite, at, before) }, address: invite.source });
    this.#look();
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** An entry of its own while there are few; the further ones of an organization share one. */
  #entryOf(invite: RefusedInvite) {
    const own = whoOf(invite);
    const key = JSON.stringify(own);
    if (this.#entries.has(key)) return { who: own, key };
    const budget = `${invite.known} ${invite.orgId}`;
    const count = this.#counts.get(budget) ?? 0;
    if (count < (invite.known ? perKnown : perStrangers)) {
      this.#counts.set(budget, count + 1);
      return { who: own, key };
    }
    const who = { ...own, number: null, source: null };
    return { who, key: JSON.stringify(who) };
  }

  #look(): void {
    this.#timer ??= this.#parts.clock.after(lookMs, () => {
      this.#timer = null;
      if (this.#parts.isReady()) this.#report();
      if (this.#entries.size > 0) this.#look();
    });
  }

  #report(): void {
    const now = this.#parts.clock.elapsed();
    const isOver = now - this.#since >= minuteMs;
    const due: Refused[] = [];
    for (const [key, { refused, address }] of this.#entries) {
      const isQuestion = refused.reason === 'challenged' || refused.reason === 'phone_session_missing';
      // Each call of a PBX begins with a question; whether it knows the answer is seen later.
      if (!isOver && (isQuestion || this.#reportedSoon >= soonPerMinute)) continue;
      this.#entries.delete(key);
      if (isQuestion && this.#parts.hasAuthenticated(address)) continue;
      if (!isOver) this.#reportedSoon += 1;
      due.push(refused);
    }
    if (isOver) this.#beginMinute(now);
    for (let from = 0; from < due.length; from += mostRefusedOfReport)
      this.#parts.report(due.slice(from, from + mostRefusedOfReport));
  }

  #beginMinute(now: number): void {
    this.#since = now;
    this.#reportedSoon = 0;
    this.#counts.clear();
  }
}

function whoOf({ orgId, number, source, reason }: RefusedInvite) {
  return { org_id: orgId, number, source: hostKey(source), reason };
}

/** @param at ISO @param before what is counted already */
function counted(invite: RefusedInvite, at: string, before: Refused | undefined) {
  return {
    attempts: (before?.attempts ?? 0) + 1,
    unanswered: (before?.unanswered ?? 0) + (invite.unanswered ? 1 : 0),
    first_at: before?.first_at ?? at,
    last_at: at,
    sip_status: invite.sipStatus,
    detail: invite.detail?.slice(0, longestDetail) ?? null,
    from: said(invite.from),
    dialled: said(invite.dialled),
    user_agent: said(invite.userAgent),
    sip_call_id: said(invite.sipCallId),
  };
}

/** What a caller wrote, on one line and not too long. */
function said(text: string | undefined): string | null {
  if (text === undefined) return null;
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, longestRefusedText);
}

import type { TraceMessage } from '#shared/edge-protocol/calls.ts';
import type { HepPacket } from '#shared/hep.ts';
import { isoTime } from '#shared/iso-time.ts';
import { redactorOf } from '#shared/secret-values.ts';
import { redactSip } from '#shared/sip-redaction.ts';

export interface TraceLimits {
  /** Maximum messages kept per call; more are counted and the trace marked truncated (contract 3.4). */
  readonly maxMessagesPerCall: number;
  /** Maximum messages kept of an unclaimed dialog: more than a call's set-up has. */
  readonly maxUnclaimedMessages: number;
  /** Maximum octets held; beyond it unclaimed dialogs get no more messages, and traces of calls are truncated. */
  readonly maxBytes: number;
  /** Maximum dialogs; beyond it the oldest unclaimed one is dropped. */
  readonly maxDialogs: number;
  /** How long messages wait to be claimed by a call: longer than transaction time-outs (RFC 3261 Timer B). */
  readonly unclaimedMs: number;
  /** How long after a call's end late messages (its last 200, ACK, retransmissions) are still collected. */
  readonly lingerMs: number;
}

export const defaultTraceLimits: TraceLimits = {
  maxMessagesPerCall: 500,
  maxUnclaimedMessages: 100,
  maxBytes: 128 * 1024 * 1024,
  maxDialogs: 50_000,
  unclaimedMs: 40_000,
  lingerMs: 3_000,
};

interface Dialog {
  /** The call that claimed it; null until then. */
  callId: string | null;
  /** Known secrets of the call. */
  secrets: readonly string[];
  /** Secrets found in its messages, by direction, so that the peer's cannot evict ours. */
  readonly seen: { readonly sent: Set<string>; readonly received: Set<string> };
  /** When the dialog may be dropped; null while its call is up. */
  until: number | null;
  packets: HepPacket[];
  /** Messages of this call so far, including flushed ones. */
  count: number;
  truncated: boolean;
}

export interface CollectedTrace {
  readonly callId: string;
  readonly messages: TraceMessage[];
  readonly truncated: boolean;
}

/**
 * Collects copies of SIP messages by Call-ID until a call claims them. Pure: packets and time in, traces out. Messages
 * are redacted and converted to text only for claimed dialogs.
 */
export class TraceCollector {
  readonly #dialogs = new Map<string, Dialog>();
  readonly #limits: TraceLimits;
  readonly #localPort: number;
  /** Octets held. */
  bytes = 0;
  /** Copies dropped for lack of room, and unclaimed dialogs dropped because there were too many. */
  overflowed = 0;

  /** @param localPort the SIP listener's port: distinguishes sent from received when the capture does not say */
  constructor(localPort: number, limits: TraceLimits = defaultTraceLimits) {
    this.#localPort = localPort;
    this.#limits = limits;
  }

  get size(): number {
    return this.#dialogs.size;
  }

  /** @param now ms of the clock's elapsed time */
  add(packet: HepPacket, now: number): void {
    const sipCallId = packet.callId ?? callIdOf(packet.payload);
    if (sipCallId === null) return;
    const dialog = this.#dialog(sipCallId, now);
    const { maxMessagesPerCall, maxUnclaimedMessages, maxBytes } = this.#limits;
    const most = dialog.callId === null ? maxUnclaimedMessages : maxMessagesPerCall;
    const isFull = this.bytes + packet.payload.length > maxBytes;
    if (dialog.count >= most || isFull) {
      dialog.truncated = true;
      if (isFull) this.overflowed += 1;
      return;
    }
    dialog.count += 1;
    this.bytes += packet.payload.length;
    dialog.packets.push({ ...packet, payload: copyOf(packet.payload) });
  }

  /**
   * Assigns messages with this Call-ID to the call from now on.
   * @param secrets redacted from its messages in any form
   */
  claim(callId: string, sipCallId: string, now: number, secrets: readonly string[] = []): void {
    const dialog = this.#dialog(sipCallId, now);
    dialog.callId = callId;
    dialog.secrets = secrets;
    dialog.until = null;
  }

  /** The call is over: late messages are collected for `lingerMs`, then the dialog is dropped. */
  release(sipCallId: string, now: number): void {
    const dialog = this.#dialogs.get(sipCallId);
    if (dialog) dialog.until = now + this.#limits.lingerMs;
  }

  /** Messages since the last call; null when there are none. */
  take(sipCallId: string): CollectedTrace | null {
    const dialog = this.#dialogs.get(sipCallId);
    if (!dialog || dialog.callId === null || dialog.packets.length === 0) return null;
    const packets = dialog.packets;
    dialog.packets = [];
    this.#free(packets);
    const texts = packets.map(({ payload }) => payload.toString('utf8'));
    for (const [index, packet] of packets.entries()) {
      const seen = isSent(packet, this.#localPort) ? dialog.seen.sent : dialog.seen.received;
      noteSecrets(texts[index] ?? '', seen);
    }
    const { sent, received } = dialog.seen;
    const redact = redactorOf([...dialog.secrets, ...sent, ...received]);
    return {
      callId: dialog.callId,
      messages: packets.map((packet, index) =>
        traceMessage(packet, this.#localPort, redact(redactSip(texts[index] ?? ''))),
      ),
      truncated: dialog.truncated,
    };
  }

  /** Returns the late messages of ended calls, and drops expired dialogs. */
  sweep(now: number): CollectedTrace[] {
    const late: CollectedTrace[] = [];
    for (const [sipCallId, dialog] of this.#dialogs) {
      if (dialog.until === null) continue;
      const trace = this.take(sipCallId);
      if (trace) late.push(trace);
      if (dialog.until <= now) this.#forget(sipCallId, dialog);
    }
    return late;
  }

  #dialog(sipCallId: string, now: number): Dialog {
    const known = this.#dialogs.get(sipCallId);
    if (known) return known;
    if (this.#dialogs.size >= this.#limits.maxDialogs) this.#forgetOldestUnclaimed();
    const dialog: Dialog = {
      callId: null,
      secrets: [],
      seen: { sent: new Set(), received: new Set() },
      until: now + this.#limits.unclaimedMs,
      packets: [],
      count: 0,
      truncated: false,
    };
    this.#dialogs.set(sipCallId, dialog);
    return dialog;
  }

  #forgetOldestUnclaimed(): void {
    for (const [sipCallId, dialog] of this.#dialogs) {
      if (dialog.callId !== null) continue;
      this.#forget(sipCallId, dialog);
      this.overflowed += 1;
      return;
    }
  }

  #forget(sipCallId: string, dialog: Dialog): void {
    this.#dialogs.delete(sipCallId);
    this.#free(dialog.packets);
  }

  #free(packets: readonly HepPacket[]): void {
    for (const { payload } of packets) this.bytes -= payload.length;
  }
}

/**
 * In memory of its own: the packet is a slice of a buffer that would be kept as a whole, and so would be the block of
 * 64 KiB from which `Buffer.from` takes small copies.
 */
function copyOf(payload: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(payload.length);
  payload.copy(copy);
  return copy;
}

/**
 * In memory of its own: V8 makes a part of a text a reference to the whole, which would be kept for as long as the call
 * stands.
 */
function ownText(part: string): string {
  return Buffer.from(part).toString();
}

/** @param raw the redacted message */
function traceMessage(packet: HepPacket, localPort: number, raw: string): TraceMessage {
  const sent = isSent(packet, localPort);
  const source = hostPort(packet.source.address, packet.source.port);
  const destination = hostPort(packet.destination.address, packet.destination.port);
  const lineEnd = raw.search(/[\r\n]/);
  return {
    at: isoTime(packet.at / 1000),
    direction: sent ? 'sent' : 'received',
    local: sent ? source : destination,
    remote: sent ? destination : source,
    transport: packet.transport,
    start_line: lineEnd === -1 ? raw : raw.slice(0, lineEnd),
    raw,
  };
}

function isSent({ direction, source }: HepPacket, localPort: number): boolean {
  return direction === null ? source.port === localPort : direction === 'sent';
}

function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** For captures without a correlation id. */
function callIdOf(payload: Buffer): string | null {
  const match = /\r\n(?:call-id|i)[ \t]*:([^\r\n]*)\r\n/i.exec(payload.toString('latin1'));
  return match?.[1]?.trim() ?? null;
}

/** Maximum values per dialog and direction: a call has two or three, a few more with re-INVITEs. */
const mostSecrets = 16;
/** Keys in a message. Shorter text is part of a word, not a key (RFC 4568 section 6.2: 40 digits). */
const keys = /inline[ \t]*:[ \t]*([A-Za-z0-9+/_-]{20,128}={0,2})/gi;
/** RFC 7616 section 3.4.1: hexadecimal digits of the hash. */
const responses = /\bresponse[ \t]*=[ \t]*"?([0-9a-f]{32,128})\b/gi;

/**
 * Secrets at their regular places in messages: SRTP keys, also of rejected offers, and digest responses. A peer may
 * repeat one elsewhere in the call, in a header or a reason, and it must not reach the trace from there.
 */
function noteSecrets(message: string, seen: Set<string>): void {
  for (const form of [keys, responses]) {
    form.lastIndex = 0;
    for (let found = form.exec(message); found && seen.size < mostSecrets; found = form.exec(message)) {
      const [, secret] = found;
      if (secret !== undefined && !seen.has(secret)) seen.add(ownText(secret));
    }
  }
}

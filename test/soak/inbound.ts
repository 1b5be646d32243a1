/** Calls from carriers' phones to the edge. Each script throws when the edge does not do as it should. */
import type { SipText } from '../../scripts/call/sip-text.ts';
import type { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import type { Caller } from '../kit/programs/caller.ts';
import type { Random } from '../simulation/random.ts';
import type { Carrier } from './carrier.ts';
import type { Call } from './ledger.ts';

/** 20 ms of silence. */
const silence = Buffer.alloc(160, 0xff);
/** Frames sent before the script looks whether the edge has hung up. */
const framesAtATime = 10;
/** Headers of a phone that can be transferred. */
const phoneHeaders = [
  'Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, UPDATE, REFER, NOTIFY',
  'Supported: replaces',
];

/** Sends silence for that long, or until the edge hangs up. */
export async function talk(media: SrtpPeer, ms: number, isOver: () => boolean): Promise<void> {
  const frames = Array.from({ length: framesAtATime }, () => silence);
  for (let sent = 0; sent < ms && !isOver(); sent += framesAtATime * 20) await media.play(frames);
}

export const hungUp = ({ phone }: Caller) => phone.received.some(({ method }) => method === 'BYE');

/** Calls and is answered. */
export async function answered(
  call: Call,
  caller: Caller,
  number: string,
  offer: string | null = caller.media.sdp(),
): Promise<SipText> {
  call.key = caller.callId;
  const response = await caller.phone.invite(number, offer, phoneHeaders);
  if (response.status !== 200) throw new Error(`not answered: ${response.startLine} ${warning(response)}`);
  call.knownSince = performance.now();
  caller.media.connect(response.body);
  caller.phone.ack(response, offer === null ? caller.media.sdp() : null);
  return response;
}

/** Hangs up; the agent must not have done so before. */
export async function hangUp(caller: Caller): Promise<void> {
  if (hungUp(caller)) throw new Error('the edge ended the call early');
  const { status, startLine } = await caller.phone.request('BYE');
  if (status !== 200) throw new Error(`BYE: ${startLine}`);
}

function heard(call: Call, { media }: Caller): void {
  if (media.packets === 0) throw new Error('no audio arrived');
  call.hasTalked = true;
}

export interface InboundContext {
  readonly carrier: Carrier;
  readonly random: Random;
  /** Number that plays a tone or echoes, for as long as the caller likes. */
  readonly line: string;
  /** Shortens long calls of a short run. */
  readonly scale: number;
}

type Script = (call: Call, caller: Caller, context: InboundContext) => Promise<void>;

async function talkFor(call: Call, caller: Caller, line: string, ms: number): Promise<void> {
  await answered(call, caller, line);
  await talk(caller.media, ms, () => hungUp(caller));
  heard(call, caller);
  await hangUp(caller);
}

/** A re-INVITE, acknowledged. */
async function reinvite({ phone }: Caller, sdp: string): Promise<SipText> {
  const response = await phone.request('INVITE', sdp, phoneHeaders);
  if (response.status !== 200) throw new Error(`re-INVITE: ${response.startLine} ${warning(response)}`);
  phone.ack(response);
  return response;
}

export const inboundScripts = {
  'short call': (call, caller, { line, random }) => talkFor(call, caller, line, random.between(1, 4) * 1000),
  'call of some seconds': (call, caller, { line, random }) =>
    talkFor(call, caller, line, random.between(8, 20) * 1000),
  'long call': (call, caller, { line, random, scale }) =>
    talkFor(call, caller, line, random.between(60, 150) * 1000 * scale),
  'key press': async (call, caller, { carrier }) => {
    await answered(call, caller, carrier.number);
    await talk(caller.media, 600, () => hungUp(caller));
    // A key is lost with its packets; a person presses it again.
    for (let times = 0; times < 8 && !hungUp(caller); times++) {
      await caller.media.press('1');
      await talk(caller.media, 3000, () => hungUp(caller));
    }
    await caller.phone.expect('BYE');
    heard(call, caller);
  },
  'hold and resume': async (call, caller, { line }) => {
    await answered(call, caller, line);
    await talk(caller.media, 800, () => hungUp(caller));
    const held = await reinvite(caller, caller.media.sdp({ direction: 'sendonly' }));
    if (!/^a=(?:recvonly|inactive)\r?$/m.test(held.body)) throw new Error(`not on hold: ${held.body}`);
    await talk(caller.media, 800, () => hungUp(caller));
    await reinvite(caller, caller.media.sdp());
    await talk(caller.media, 800, () => hungUp(caller));
    heard(call, caller);
    await hangUp(caller);
  },
  'new keys by re-INVITE': async (call, caller, { line }) => {
    await answered(call, caller, line);
    await talk(caller.media, 600, () => hungUp(caller));
    caller.media.rekey();
    const { body } = await reinvite(caller, caller.media.sdp());
    caller.media.connect(body);
    await talk(caller.media, 800, () => hungUp(caller));
    heard(call, caller);
    await hangUp(caller);
  },
  'late offer': async (call, caller, { line }) => {
    await answered(call, caller, line, null);
    await talk(caller.media, 1500, () => hungUp(caller));
    heard(call, caller);
    await hangUp(caller);
  },
  'canceled call': async (call, caller, { carrier }) => {
    call.key = caller.callId;
    const final = caller.phone.invite(carrier.number, caller.media.sdp(), phoneHeaders);
    // They may cross on the wire: a call that was answered first is hung up.
    const [response] = await Promise.all([final, caller.phone.cancel()]);
    call.knownSince = performance.now();
    if (response.status === 200) {
      caller.phone.ack(response);
      await caller.phone.request('BYE');
    } else if (response.status !== 487) throw new Error(`INVITE after CANCEL: ${response.startLine}`);
  },
  'caller that vanishes': async (call, caller, { line }) => {
    await answered(call, caller, line);
    await talk(caller.media, 1000, () => hungUp(caller));
    // No BYE: the edge must end the call by its media time-out.
    await caller.close();
  },
  'unknown number': async (_call, caller) => {
    const { status, startLine } = await caller.phone.invite('+14155559999', caller.media.sdp());
    if (status !== 404 && status !== 403) throw new Error(`not rejected: ${startLine}`);
  },
  'offer without SRTP': async (_call, caller, { line }) => {
    const plain = caller.media
      .sdp()
      .replace('RTP/SAVP', 'RTP/AVP')
      .replace(/^a=crypto.*\r\n/m, '');
    const { status, startLine } = await caller.phone.invite(line, plain);
    if (status !== 488) throw new Error(`not rejected: ${startLine}`);
  },
} satisfies Record<string, Script>;

export type InboundKind = keyof typeof inboundScripts;

/** Of 100 calls. */
export const inboundWeights: Readonly<Record<InboundKind, number>> = {
  'short call': 34,
  'call of some seconds': 16,
  'long call': 2,
  'key press': 14,
  'hold and resume': 8,
  'new keys by re-INVITE': 5,
  'late offer': 6,
  'canceled call': 7,
  'caller that vanishes': 2,
  'unknown number': 1,
  'offer without SRTP': 3,
};

function warning(response: SipText): string {
  return response.header('warning') ?? '';
}

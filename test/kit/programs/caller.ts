/** A caller for tests: a minimal phone with SRTP media, already in a call. */
import { Phone } from '../../../scripts/call/phone.ts';
import { SrtpPeer, type SrtpPeerOptions } from '../fakes/srtp-peer.ts';
import type { TestSystem } from './harness.ts';

/** Where a phone calls. */
export type Callable = Pick<TestSystem, 'ca' | 'sipPort'>;

export interface Caller {
  readonly phone: Phone;
  readonly media: SrtpPeer;
  /** SIP Call-ID */
  readonly callId: string;
  /** Hangs up and waits for the response to the BYE. */
  hangup(): Promise<void>;
  /** Releases sockets; the edge must end a call that is still up. */
  close(): Promise<void>;
}

/** A phone with its TLS connection and RTP ports that has not called yet. */
export async function pickUp(system: Callable, peer: SrtpPeerOptions = {}): Promise<Caller> {
  const phone = await Phone.connect({ host: '127.0.0.1', port: system.sipPort, ca: system.ca });
  const media = await SrtpPeer.open(peer);
  return {
    phone,
    media,
    callId: phone.callId,
    async hangup() {
      await phone.request('BYE');
    },
    async close() {
      media.close();
      await phone.close();
    },
  };
}

/**
 * Calls `number` and is answered.
 * @param sdp additional parts of the offer
 * @throws Error with the response when it is not answered
 */
export async function callAndTalk(
  system: Callable,
  number: string,
  sdp: Parameters<SrtpPeer['sdp']>[0] = {},
  peer: SrtpPeerOptions = {},
): Promise<Caller> {
  const caller = await pickUp(system, peer);
  const response = await caller.phone.invite(number, caller.media.sdp(sdp));
  if (response.status !== 200) {
    await caller.close();
    throw new Error(`${number} was not answered: ${response.raw}`);
  }
  caller.media.connect(response.body);
  caller.phone.ack(response);
  return caller;
}

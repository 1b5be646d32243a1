/** Whether the media address in a peer's SDP (`c=`) is usable. */
import { BlockList, isIP } from 'node:net';
import { isAnyAddress } from '#shared/networks.ts';
import { CallRefused } from '../call/refused.ts';
import { describedAddress, type NegotiatedAudio } from './sdp/session.ts';

/**
 * Whether packets can be sent to it before the peer's real address is known. Not to a host name, which is not
 * resolved here, and not to 0.0.0.0, the old way to hold (RFC 3264 section 8.4).
 */
export function isDestination(sdpAddress: string): boolean {
  return isIP(sdpAddress) !== 0 && !isAnyAddress(sdpAddress);
}

const oneToMany = new BlockList();
oneToMany.addSubnet('224.0.0.0', 4);
oneToMany.addAddress('255.255.255.255');
oneToMany.addSubnet('ff00::', 8, 'ipv6');

/**
 * Why media cannot be sent to an address, as text for a Warning header; null when it can.
 * @param sdpAddress null: ICE finds the address
 * @param listenIp local source address of media
 */
export function unreachable(sdpAddress: string | null, listenIp: string): string | null {
  if (sdpAddress === null) return null;
  const family = isIP(sdpAddress);
  if (family === 0) return null;
  if (oneToMany.check(sdpAddress, family === 6 ? 'ipv6' : 'ipv4')) {
    return `Media address ${sdpAddress} is multicast, which is not supported`;
  }
  return family === isIP(listenIp)
    ? null
    : `No IPv${family} here: media address ${sdpAddress} cannot be reached`;
}

/** @throws CallRefused 488 when media cannot be sent to the address of a session */
export function checkReach(session: NegotiatedAudio, listenIp: string): void {
  const problem = unreachable(describedAddress(session), listenIp);
  if (problem) throw new CallRefused(488, problem, problem);
}

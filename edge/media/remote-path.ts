/**
 * How the peer's media address is found. The worker has two ways, and both have a price:
 *
 * - `connect`: we send to the address of the SDP at once, and packets from any other source are dropped.
 *   Right when the SDP tells the truth; a peer behind NAT would be sent nothing and never heard.
 * - `latch`: we send to where the first authenticated packet came from (symmetric RTP, RFC 4961), and nothing
 *   before it. Right behind NAT; two sides that both wait for the other stay silent.
 */
import { BlockList, isIP } from 'node:net';
import { isPrivateAddress } from './quality/private-address.ts';

export type RemotePath = 'connect' | 'latch';

/**
 * @param sdpAddress the peer's connection address (`c=`)
 * @param signalingAddress where its signaling comes from; undefined when that is not known
 */
export function remotePath(sdpAddress: string, signalingAddress: string | undefined): RemotePath {
  // A host name is not looked up here, and 0.0.0.0 is the old way to hold (RFC 3264 section 8.4): no address yet.
  if (isIP(sdpAddress) === 0 || sdpAddress === '0.0.0.0' || sdpAddress === '::') return 'latch';
  if (sdpAddress === signalingAddress || signalingAddress === undefined) return 'connect';
  // A private address that comes over the public network was not translated on its way. When signaling is
  // private too, both sides are in one network and its media server is simply another host.
  return isPrivateAddress(sdpAddress) && !isPrivateAddress(signalingAddress) ? 'latch' : 'connect';
}

const oneToMany = new BlockList();
oneToMany.addSubnet('224.0.0.0', 4);
oneToMany.addAddress('255.255.255.255');
oneToMany.addSubnet('ff00::', 8, 'ipv6');

/**
 * Why media cannot be sent to an address, as text for a Warning header; null when it can.
 * @param listenIp the local address that media is sent from
 */
export function unreachable(sdpAddress: string, listenIp: string): string | null {
  const family = isIP(sdpAddress);
  if (family === 0) return null;
  if (oneToMany.check(sdpAddress, family === 6 ? 'ipv6' : 'ipv4')) {
    return `Media address ${sdpAddress} is multicast, which is not supported`;
  }
  return family === isIP(listenIp)
    ? null
    : `No IPv${family} here: media address ${sdpAddress} cannot be reached`;
}

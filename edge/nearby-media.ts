/**
 * Media between two ends on this machine. When SDP contains an address reachable only from outside, media of a call
 * from the edge to itself would leave the machine and return; here both ends use the listening address instead.
 */
import { isIPv6 } from 'node:net';
import { type Media, type MediaLeg, withLegs } from './call/ports/media.ts';

/** @param named the address in SDP @param listener where media is received, not a wildcard */
export function nearbyMedia(media: Media, named: string, listener: string): Media {
  if (named === listener || isIPv6(named) !== isIPv6(listener)) return media;
  const near = (sdp: string) =>
    sdp.replaceAll(/^((?:c=|o=.* )IN IP[46] )(\S+)/gm, (line, head: string, address: string) =>
      address === named ? `${head}${listener}` : line,
    );
  return withLegs(media, async (options) => nearbyLeg(await media.createLeg(options), near));
}

function nearbyLeg(leg: MediaLeg, near: (sdp: string) => string): MediaLeg {
  return {
    answer: async (offer) => near(await leg.answer(near(offer))),
    offer: async (anew) => near(await leg.offer(anew)),
    accept: (answer) => leg.accept(near(answer)),
    withdraw: () => leg.withdraw(),
    hold: (on) => leg.hold(on),
    pressed: (key) => leg.pressed(key),
    attach: (endpoint) => leg.attach(endpoint),
    record: (order) => leg.record(order),
    tell: (...words) => leg.tell(...words),
    sendDtmf: (digits) => leg.sendDtmf(digits),
    get codec() {
      return leg.codec;
    },
    get keys() {
      return leg.keys;
    },
    get held() {
      return leg.held;
    },
    silentForMs: () => leg.silentForMs(),
    report: () => leg.report(),
    close: () => leg.close(),
  };
}

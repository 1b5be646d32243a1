import { describe, expect, it } from 'vitest';
import { collision, type Exchanges, glarePauseMs, retryAfterOverlap } from './glare.ts';

const quiet: Exchanges = {
  ourInvite: false,
  negotiated: true,
  acknowledged: true,
  ourOffer: false,
  ourLateOffer: false,
  theirRequest: false,
};

describe('an offer from the peer', () => {
  it.each<[string, 'INVITE' | 'UPDATE', boolean, Partial<Exchanges>, number | null]>([
    ['is accepted when nothing is pending', 'INVITE', true, {}, null],
    ['gets 491 while ours is pending', 'INVITE', true, { ourOffer: true }, 491],
    ['gets 491 while ours is pending, also as UPDATE', 'UPDATE', true, { ourOffer: true }, 491],
    ['gets 491 while our late offer waits for its ACK', 'UPDATE', true, { ourLateOffer: true }, 491],
    ['gets 491 as re-INVITE before the ACK', 'INVITE', true, { acknowledged: false }, 491],
    ['is accepted as UPDATE before the ACK', 'UPDATE', true, { acknowledged: false }, null],
    ['gets 500 while the previous one is pending', 'INVITE', true, { theirRequest: true }, 500],
    ['gets 500 as UPDATE while a re-INVITE is pending', 'UPDATE', true, { theirRequest: true }, 500],
    ['gets 500 as UPDATE before our answer', 'UPDATE', true, { negotiated: false }, 500],
    ['gets 491 as UPDATE before its own answer', 'UPDATE', true, { negotiated: false, ourInvite: true }, 491],
    ['requested by an empty re-INVITE gets 491 too', 'INVITE', false, { ourOffer: true }, 491],
    [
      'is not carried by an UPDATE without SDP',
      'UPDATE',
      false,
      { ourOffer: true, theirRequest: true },
      null,
    ],
  ])('%s', (_name, method, hasOffer, exchanges, status) => {
    expect(collision(method, hasOffer, { ...quiet, ...exchanges })).toBe(status);
  });
});

describe('the pause after a 491', () => {
  it('is 2.1 to 4 s for the side that chose the Call-ID, else 0 to 2 s', () => {
    expect([glarePauseMs(true, 0), glarePauseMs(true, 0.999999)]).toEqual([2100, 4000]);
    expect([glarePauseMs(false, 0), glarePauseMs(false, 0.999999)]).toEqual([0, 2000]);
  });

  it('after a 500 is 0 to 10 s', () => {
    expect([retryAfterOverlap(0), retryAfterOverlap(0.999999)]).toEqual([0, 10]);
  });
});

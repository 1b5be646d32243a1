import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Nonces } from './nonces.ts';

const key = Buffer.alloc(32, 1).toString('base64');
const other = Buffer.alloc(32, 2).toString('base64');
const start = Date.UTC(2030, 0, 1);

function scene() {
  const clock = new FakeClock(start);
  return { clock, nonces: new Nonces(clock) };
}

describe('a nonce', () => {
  it('is used once with each count, in any order within the last 64', () => {
    const count = fc.oneof(
      fc.integer({ min: 0, max: 200 }),
      fc.integer({ min: 0, max: 0xffff_ffff }),
      fc.integer({ min: 0xffff_ff80, max: 0xffff_ffff }),
    );
    fc.assert(
      fc.property(fc.array(count, { maxLength: 200 }), (counts) => {
        const { nonces } = scene();
        const nonce = nonces.issue(key);
        const used = new Set<number>();
        let highest = 0;
        for (const nc of counts) {
          const expected = nc > 0 && !used.has(nc) && (used.size === 0 || nc > highest - 64);
          expect(nonces.use(key, nonce, nc)).toBe(expected);
          if (!expected) continue;
          used.add(nc);
          highest = Math.max(highest, nc);
        }
      }),
    );
  });

  it('is valid for 300 s, and costs memory only once it was used', () => {
    const { clock, nonces } = scene();
    const nonce = nonces.issue(key);
    const late = nonces.issue(key);
    expect(nonces.size).toBe(0);
    clock.advance(299_999);
    expect(nonces.use(key, nonce, 1)).toBe(true);
    expect(nonces.size).toBe(1);
    clock.advance(1);
    expect(nonces.use(key, nonce, 2)).toBe(false);
    expect(nonces.use(key, late, 1)).toBe(false);
    expect(nonces.use(key, nonces.issue(key), 1)).toBe(true);
    expect(nonces.size).toBe(1);
  });

  it('is different at each issue', () => {
    const { nonces } = scene();
    expect(new Set(Array.from({ length: 100 }, () => nonces.issue(key))).size).toBe(100);
  });

  it('cannot be made or changed without the key', () => {
    const { nonces } = scene();
    const nonce = nonces.issue(key);
    expect(nonces.use(other, nonce, 1)).toBe(false);
    fc.assert(
      fc.property(fc.nat(nonce.length - 1), fc.constantFrom(...'AZaz09-_.= "'), (at, letter) => {
        const changed = nonce.slice(0, at) + letter + nonce.slice(at + 1);
        fc.pre(changed !== nonce);
        expect(nonces.use(key, changed, 1)).toBe(false);
      }),
    );
    for (const text of ['', '=', `${nonce}A`, `${nonce}=`, nonce.slice(1), `${nonce} `])
      expect(nonces.use(key, text, 1)).toBe(false);
  });

  it('of another edge is valid, also when its clock is some seconds ahead', () => {
    const { clock, nonces } = scene();
    const ahead = (ms: number) => new Nonces(new FakeClock(start + ms)).issue(key);
    expect(nonces.use(key, ahead(30_000), 1)).toBe(true);
    expect(nonces.use(key, ahead(30_001), 1)).toBe(false);
    clock.advance(1);
    expect(nonces.use(key, ahead(30_001), 1)).toBe(true);
  });

  it('of before the start is not valid: nobody knows its counts', () => {
    const { clock, nonces } = scene();
    const nonce = nonces.issue(key);
    expect(nonces.use(key, nonce, 1)).toBe(true);
    clock.advance(1_000);
    expect(new Nonces(clock).use(key, nonce, 1)).toBe(false);
  });

  it('that was forgotten for want of room is not accepted again', () => {
    const clock = new FakeClock(start);
    const nonces = new Nonces(clock, 100);
    const first = nonces.issue(key);
    expect(nonces.use(key, first, 1)).toBe(true);
    clock.advance(1);
    for (let call = 0; call < 100; call++) expect(nonces.use(key, nonces.issue(key), 1)).toBe(true);
    expect(nonces.size).toBe(100);
    expect(nonces.use(key, first, 1)).toBe(false);
    expect(nonces.use(key, first, 2)).toBe(false);
    expect(nonces.use(key, nonces.issue(key), 1)).toBe(true);
  });
});

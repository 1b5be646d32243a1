import { describe, expect, it } from 'vitest';
import { config, trunk } from '../../../test/kit/edge/fake-engine-signaling.ts';
import type { DialogAccount } from '../session/dialogs.ts';
import { NumberIndex } from '../srf/numbers.ts';
import { mayReplace } from './replacing.ts';
import { SourceIndex } from './sources.ts';

const number = '+14155550100';
const routing = {
  config,
  numbers: new NumberIndex(config.numbers),
  sources: new SourceIndex(config, new Map()),
};
const replaced: DialogAccount = { number, peerAddress: '198.51.100.1', trunkId: null };
const stranger: DialogAccount = { number: '+14155559999', peerAddress: '203.0.113.5', trunkId: null };

describe('the peer of another dialog may replace it', () => {
  it.each<[string, Partial<DialogAccount>, boolean]>([
    ['from an address that may call its number', { peerAddress: '192.0.2.1' }, true],
    ['after a configuration of its number has admitted it', { trunkId: trunk.id }, true],
    ['when it is the peer of both', { peerAddress: '198.51.100.1' }, true],
    ['from elsewhere: not', {}, false],
    ['after a configuration of another number has: not', { trunkId: 'of-another-number' }, false],
    ['from nowhere: not', { peerAddress: null }, false],
  ])('%s', (_how, by, may) => {
    expect(mayReplace(routing, replaced, { ...stranger, ...by })).toBe(may);
  });

  it('unless neither has an address, or there is no configuration yet', () => {
    expect(mayReplace(routing, { ...replaced, peerAddress: null }, { ...stranger, peerAddress: null })).toBe(
      false,
    );
    expect(mayReplace(null, replaced, { ...stranger, peerAddress: '192.0.2.1', trunkId: trunk.id })).toBe(
      false,
    );
  });
});

import { expect, it } from 'vitest';
import { judgedLookup } from './judged-lookup.ts';
import { parseNetworks } from './outgoing-targets.ts';

const none = parseNetworks([]);

it('resolves a name and judges every address', async () => {
  const resolve = async () => ['8.8.8.8', '10.0.0.1', '127.0.0.1', '8.8.4.4', '10.0.0.1'];
  expect(await judgedLookup('pbx.example', resolve, none)).toEqual({
    addresses: ['8.8.8.8', '8.8.4.4'],
    refusals: ['10.0.0.1 is a private address', '127.0.0.1 is a loopback address'],
  });
  expect((await judgedLookup('pbx.example', resolve, parseNetworks(['10.0.0.0/8']))).refusals).toEqual([
    '127.0.0.1 is a loopback address',
  ]);
});

it('judges an address without a look-up', async () => {
  const never = () => Promise.reject(new Error('asked'));
  expect(await judgedLookup('::ffff:10.0.0.1', never, none)).toEqual({
    addresses: [],
    refusals: ['::ffff:10.0.0.1 is a private address'],
  });
  expect(await judgedLookup('10.0.0.1', never, null)).toEqual({ addresses: ['10.0.0.1'], refusals: [] });
});

it('a host without addresses has neither addresses nor refusals', async () => {
  expect(await judgedLookup('pbx.example', async () => [], none)).toEqual({ addresses: [], refusals: [] });
});

import { expect, it } from 'vitest';
import { answeredByEcho } from '../test/kit/edge/signaling.ts';
import { CurrentConfig } from './current-config.ts';

it('reports which private networks may be contacted, now and with every new configuration', () => {
  const current = new CurrentConfig();
  const seen: (readonly string[])[] = [];
  const config = answeredByEcho('+14155550100');
  current.apply({ ...config, allowed_private_targets: ['10.0.0.0/8'] });
  current.watchTargets((networks) => seen.push(networks));
  current.apply(config);
  expect(seen).toEqual([['10.0.0.0/8'], []]);
});

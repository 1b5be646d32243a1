/** The facts of the pages in `docs/pbx/`. */
import type { PbxFacts } from './facts.ts';

export const pbxExample: PbxFacts = {
  server: 'sip.example.com',
  port: 5061,
  codecs: ['PCMU', 'PCMA', 'Opus'],
  addresses: ['198.51.100.7', '198.51.100.8'],
  number: '+14155550100',
  access: { how: 'address' },
};

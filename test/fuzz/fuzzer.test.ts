/** The coverage-guided fuzzer itself, and some inputs of it for each target: `npm run fuzz` takes as many as wished. */
import { expect, test } from 'vitest';
import { fuzz } from './fuzzer.ts';
import { targets } from './targets.ts';

test.each(Object.entries(targets))('%s holds what it promises', (_name, target) => {
  const { finding } = fuzz(target, 1, (tries) => tries < 200);
  expect(finding && { error: finding.error.message, input: finding.input.toString('latin1') }).toBeNull();
});

test('a fault behind conditions is found, and its input made small', () => {
  const check = (input: Buffer) => {
    if (input.includes('SIP/2.0') && input.includes('\r\n ')) throw new Error('a fault');
  };
  const target = {
    corpus: () => [Buffer.from('INVITE sip:a SIP/2.0\r\nA: b\r\n\r\n')],
    words: ['\r\n '],
    check,
  };
  const { finding } = fuzz(target, 1, (tries) => tries < 20_000);
  expect(finding?.input.length).toBeLessThanOrEqual('SIP/2.0\r\n '.length);
});

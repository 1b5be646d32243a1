/** Texts of 60,000 characters that a careless pattern tries in all ways in which they can be parted, for many seconds. */
import { expect, it } from 'vitest';
import { cpuMsOf, hangMs } from '../test/kit/cpu-time.ts';
import { TraceCollector } from './reporting/trace-collector.ts';
import { readRefer } from './signaling/refer/refer-to.ts';
import { judgeRegister } from './signaling/registration/register-answer.ts';
import { readInfoKey } from './signaling/session/info-key.ts';
import { sessionBody } from './signaling/session/session-body.ts';
import { contactOf, tagOf } from './signaling/srf/headers.ts';
import { uriOf } from './signaling/srf/numbers.ts';
import { q850Cause, redirectTargets } from './signaling/srf/refusal.ts';
import { parseResponse } from './trunks/discovery/sip-response.ts';

const length = 60_000;
const texts = {
  'escaped quotes': `"${'\\"'.repeat(length / 2)}`,
  'quotes before a backslash': `a${'"\\\\'.repeat(length / 2)}`,
  quotes: '"'.repeat(length - 1),
  brackets: '<'.repeat(length),
  blanks: `a${' '.repeat(length)}b`,
  tabs: `a${'\t'.repeat(length)}b`,
};
const registered = (contact: string) =>
  judgeRegister(
    { kind: 'answered', status: 200, reason: 'OK', headers: { contact }, sent: { contact: '<sip:a@b>' } },
    { askedS: 60, registrar: 'pbx:5061', credentialsSent: false },
  );
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'the tag of an address': tagOf,
  'the URI of an address': uriOf,
  'our Contact': (text) => contactOf('edge:5061', 'sip:a@b', { 'record-route': text }),
  'the Q.850 cause': (text) => q850Cause({ reason: text }),
  'the targets of a redirect': (text) => redirectTargets({ contact: text }),
  'the target of a REFER': (text) => readRefer({ 'refer-to': text }),
  'the binding of a registration': registered,
  'a key of INFO': (text) =>
    readInfoKey({ headers: { 'content-type': 'application/dtmf-relay' }, body: `Signal=${text}` }),
  'a part of a body': (text) =>
    sessionBody({
      headers: { 'content-type': 'multipart/mixed;boundary=b' },
      body: `--b\r\nContent-Type: ${text}\r\n\r\n--b--`,
    }),
  'a response to a probe': (text) => parseResponse(`SIP/2.0 200 ${text}\n\u2028`),
  'the Call-ID of a trace': (text) => {
    const party = { address: '192.0.2.1', port: 5061 };
    const payload = Buffer.from(`A\r\ni: ${text}\n`);
    const packet = { at: 0, source: party, destination: party, transport: 'tls', direction: null } as const;
    new TraceCollector(5061).add({ ...packet, callId: null, payload }, 0);
  },
};

it.each(Object.keys(readers))('%s is read from them at once', (name) => {
  for (const text of Object.values(texts)) {
    expect(cpuMsOf(() => readers[name]?.(text))).toBeLessThan(hangMs);
  }
});

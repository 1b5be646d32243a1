/** Generators of SIP messages for property tests. */
import fc from 'fast-check';
import { HeaderList, headerKey } from '../../edge/engine/message/headers.ts';
import type { SipMessage } from '../../edge/engine/message/message.ts';

/** Default number of runs of a property. */
export const RUNS = { numRuns: 300 };

const TOKEN = "abcXYZ019-.!%*_+`'~";
const token = fc.string({ unit: fc.constantFrom(...TOKEN), minLength: 1, maxLength: 12 });

/** Octets of a line without white space at its ends, which unfolding and trimming do not change. */
const line = fc
  .string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 60 })
  .map((text) => text.replace(/[\r\n]/g, '').replace(/^[ \t]+|[ \t]+$/g, ''));

const uri = fc
  .tuple(fc.constantFrom('sip', 'sips', 'tel', 'x-scheme'), token)
  .map(([scheme, rest]) => `${scheme}:${rest}@example.com;x=${rest}`);

const headerName = fc
  .oneof(fc.constantFrom('Via', 'v', 'To', 'f', 'Call-ID', 'CSeq', 'Contact', 'Route', 'Subject'), token)
  .filter((name) => headerKey(name) !== 'content-length');

const headers = fc
  .array(fc.tuple(headerName, line), { maxLength: 20 })
  .map((fields): [string, string][] => fields);

const body = fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets));

/** Any message that can be written; its headers may be meaningless. */
export const anyMessage: fc.Arbitrary<SipMessage> = fc.oneof(
  fc.record({ method: token, uri, fields: headers, body }).map(
    ({ fields, ...rest }): SipMessage => ({
      kind: 'request',
      ...rest,
      headers: withLength(fields, rest.body),
    }),
  ),
  fc.record({ status: fc.integer({ min: 100, max: 699 }), reason: line, fields: headers, body }).map(
    ({ fields, ...rest }): SipMessage => ({
      kind: 'response',
      ...rest,
      headers: withLength(fields, rest.body),
    }),
  ),
);

function withLength(fields: [string, string][], octets: Buffer): HeaderList {
  return new HeaderList([...fields, ['Content-Length', String(octets.length)]]);
}

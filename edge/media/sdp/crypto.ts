/**
 * SDES key lines (RFC 4568):
 *
 *     a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:<key and salt>|2^31|1:1 UNENCRYPTED_SRTCP
 *              |            |                      |            |    |         |
 *             tag         suite            40 base64 digits  lifetime MKI  session parameters
 */

import { type AnswerFault, answerFaults } from '../../call/causes/answer-faults.ts';

/** The only suite that the edge supports (RFC 4568 section 6.2.1): 128-bit key, 112-bit salt, 80-bit tag. */
const srtpSuite = 'AES_CM_128_HMAC_SHA1_80';

export interface CryptoLine {
  readonly tag: string;
  /** Master key and salt: 30 octets as bare base64, without lifetime and MKI. */
  readonly key: string;
  /** The MKI before the tag of each packet under this key; null: none. */
  readonly mki: Mki | null;
}

/** A master key identifier (RFC 3711 section 3.1): its octets as two hexadecimal digits each. */
export type Mki = string;

/** The result for one `a=crypto` value: a usable line, or why it is skipped. */
export type CryptoVerdict = CryptoLine | { readonly unusable: string };

/** Session parameters that do not change the packets of an ordinary RTP stream (RFC 4568 section 6.3). */
const harmlessParameter = /^(WSH=\d+|FEC_ORDER=(FEC_SRTP|SRTP_FEC)|-.*)$/i;
const lifetimeForm = /^(2\^\d{1,2}|\d{1,15})$/;
const mkiForm = /^(\d{1,39}):(\d{1,3})$/;
/** RFC 4568 section 6.1 allows 128; more than 4 have never been seen, and the worker supports no more. */
const longestMki = 4;
const keyForm = /^[A-Za-z0-9+/]{40}$/;

/** Parses the value of one `a=crypto` attribute. Never throws: a bad line gives a reason, not an error. */
export function parseCrypto(value: string): CryptoVerdict {
  const [tag = '', suite = '', keys = '', ...parameters] = value.split(/[ \t]+/);
  if (!/^\d{1,9}$/.test(tag)) return { unusable: 'crypto tag is not a number' };
  if (suite.toUpperCase() !== srtpSuite)
    return { unusable: `crypto suite ${suite.slice(0, 40)} not supported` };
  for (const parameter of parameters) {
    // RFC 4568 section 6.3.7: an unknown parameter without a leading hyphen invalidates the line.
    if (!harmlessParameter.test(parameter)) {
      return { unusable: `crypto session parameter ${parameter.slice(0, 40)} not supported` };
    }
  }
  return parseKeys(tag, keys);
}

function parseKeys(tag: string, keys: string): CryptoVerdict {
  if (!/^inline:/i.test(keys)) return { unusable: 'crypto key is not inline' };
  // With several keys the sender may use any at any time, and the worker has room for one.
  if (keys.includes(';')) return { unusable: 'crypto line with several keys not supported' };
  const [key = '', ...rest] = keys.slice('inline:'.length).split('|');
  if (!keyForm.test(key)) return { unusable: 'crypto key is not 30 octets of base64' };
  let mki: Mki | null = null;
  for (const [index, part] of rest.entries()) {
    const form = mkiForm.exec(part);
    if (form && index === rest.length - 1) {
      const length = Number(form[2]);
      if (length > longestMki) return { unusable: `crypto MKI of ${length} octets not supported` };
      mki = parseMki(BigInt(form[1] ?? ''), length);
      if (mki === null) return { unusable: 'crypto MKI does not fit its length' };
    } else if (index > 0 || !lifetimeForm.test(part)) return { unusable: 'crypto key parameters malformed' };
  }
  return { tag, key, mki };
}

/** RFC 4568 section 6.1: a decimal integer, encoded in the packets with this many octets, highest first. */
function parseMki(value: bigint, length: number): Mki | null {
  const digits = value.toString(16);
  return length === 0 || digits.length > 2 * length ? null : digits.padStart(2 * length, '0');
}

/** The offered line to use: in the peer's order, but lines without MKI first, as it costs octets. */
export function chooseCrypto(values: readonly string[]): CryptoVerdict {
  let reason = 'no a=crypto line';
  let withMki: CryptoLine | undefined;
  for (const value of values) {
    const verdict = parseCrypto(value);
    if ('unusable' in verdict) reason = verdict.unusable;
    else if (verdict.mki === null) return verdict;
    else withMki ??= verdict;
  }
  return withMki ?? { unusable: reason };
}

/**
 * The line of an answer to our offer, which has one line (RFC 4568 section 5.1.3).
 * @param values all lines of the answer
 */
export function answeredCrypto(values: readonly string[], offered: CryptoLine): CryptoVerdict {
  const [value] = values;
  if (value === undefined) return chooseCrypto(values);
  const [tag = '', suite = ''] = value.split(/[ \t]+/);
  const facts = {
    lines: values.length,
    tag: tag.slice(0, 40),
    offeredTag: offered.tag,
    suite: suite.slice(0, 40),
    offeredSuite: srtpSuite,
  };
  const fault = (kind: AnswerFault): CryptoVerdict => ({ unusable: answerFaults[kind](facts) });
  if (values.length > 1) return fault('several_lines');
  // A tag is a number (section 9.1), regardless of leading zeros.
  if (!/^\d{1,9}$/.test(tag) || Number(tag) !== Number(offered.tag)) return fault('foreign_tag');
  if (suite.toUpperCase() !== srtpSuite) return fault('other_suite');
  const answered = parseCrypto(value);
  return 'key' in answered && answered.key === offered.key ? fault('our_key') : answered;
}

/** The value of an `a=crypto` attribute with our key (bare base64). */
export function formatCrypto({ tag, key, mki }: CryptoLine): string {
  // With the lifetime, that of SRTCP (RFC 3711 section 9.2): some peers do not parse an MKI without it.
  const identifier = mki === null ? '' : `|2^31|${Number.parseInt(mki, 16)}:${mki.length / 2}`;
  return `${tag} ${srtpSuite} inline:${key}${identifier}`;
}

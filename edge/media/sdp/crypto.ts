/**
 * SDES key lines (RFC 4568):
 *
 *     a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:<key and salt>|2^31|1:1 UNENCRYPTED_SRTCP
 *              |            |                      |            |    |         |
 *             tag         suite            40 base64 digits  lifetime MKI  session parameters
 */

/** The one suite that the edge speaks (RFC 4568 section 6.2.1): 128-bit key, 112-bit salt, 80-bit tag. */
const srtpSuite = 'AES_CM_128_HMAC_SHA1_80';

export interface CryptoLine {
  readonly tag: string;
  /** Master key and salt: 30 octets as bare base64, lifetime and MKI stripped. */
  readonly key: string;
  /** Octets of master key identifier that the peer puts into its packets; 0: none. */
  readonly mkiLength: number;
}

/** What one `a=crypto` value came to: a usable line, or why it is passed over. */
export type CryptoVerdict = CryptoLine | { readonly unusable: string };

/** Session parameters that leave the packets of an ordinary RTP stream as they are (RFC 4568 section 6.3). */
const harmlessParameter = /^(WSH=\d+|FEC_ORDER=(FEC_SRTP|SRTP_FEC)|-.*)$/i;
const lifetimeForm = /^(2\^\d{1,2}|\d{1,15})$/;
const mkiForm = /^(\d{1,39}):(\d{1,3})$/;
const keyForm = /^[A-Za-z0-9+/]{40}$/;

/** Reads the value of one `a=crypto` attribute. Never throws: a bad line is a reason, not an error. */
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
  // Several keys are told apart by their MKI, which the SRTP layer beneath cannot read.
  if (keys.includes(';')) return { unusable: 'crypto line with several keys not supported' };
  const [key = '', ...rest] = keys.slice('inline:'.length).split('|');
  if (!keyForm.test(key)) return { unusable: 'crypto key is not 30 octets of base64' };
  let mkiLength = 0;
  for (const [index, part] of rest.entries()) {
    const mki = mkiForm.exec(part);
    if (mki && index === rest.length - 1) mkiLength = Number(mki[2]);
    else if (index > 0 || !lifetimeForm.test(part)) return { unusable: 'crypto key parameters malformed' };
  }
  return { tag, key, mkiLength };
}

/**
 * The line to use among those offered, in the peer's order, those without MKI first: SRTP packets with a
 * master key identifier cannot be read, but many a peer announces one and sends none.
 */
export function chooseCrypto(values: readonly string[]): CryptoVerdict {
  let reason = 'no a=crypto line';
  let withMki: CryptoLine | undefined;
  for (const value of values) {
    const verdict = parseCrypto(value);
    if ('unusable' in verdict) reason = verdict.unusable;
    else if (verdict.mkiLength === 0) return verdict;
    else withMki ??= verdict;
  }
  return withMki ?? { unusable: reason };
}

/** The value of an `a=crypto` attribute with our key (bare base64). */
export function formatCrypto(tag: string, key: string): string {
  return `${tag} ${srtpSuite} inline:${key}`;
}

/** Parses the target of a call (contract section 4): an E.164 number, an extension or a SIP URI. */
import { toE164 } from '#shared/e164.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';

export type CallTarget =
  /** `host` of a SIP URI; null for a number or an extension. */
  | { readonly target: string; readonly host: string | null }
  /** What is wrong, as the end of a sentence that starts with the field's name. */
  | { readonly problem: string };

const extensionForm = /^[0-9A-Za-z*#._-]{1,64}$/;

/** Returns numbers with a plus, and extensions and SIP URIs without surrounding blanks. Does not check hosts. */
export function readCallTarget(text: string): CallTarget {
  const trimmed = text.trim();
  if (/^sips?:/i.test(trimmed)) {
    const uri = parseSipDestination(trimmed);
    if (!uri) return { problem: 'must be a valid SIP URI' };
    if (uri.transport === 'udp' || uri.transport === 'tcp') {
      return { problem: 'must not name a transport other than tls' };
    }
    return { target: trimmed, host: uri.host };
  }
  const number = toE164(trimmed);
  if (number !== null) return { target: number, host: null };
  if (extensionForm.test(trimmed)) return { target: trimmed, host: null };
  return { problem: 'must be an E.164 number, an extension or a SIP URI' };
}

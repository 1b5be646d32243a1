/**
 * Parses the target of a call (contract section 4): an E.164 number, an extension, a SIP or tel URI, the slot of a
 * parked call, or a conference.
 */
import { toE164 } from '#shared/e164.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';

export type CallTarget =
  /** `host` of a SIP URI; null for a number or an extension. `tel`: the target as tel URI, when it was given as one. */
  | { readonly target: string; readonly host: string | null; readonly tel?: string }
  /** What is wrong, as the end of a sentence that starts with the field's name. */
  | { readonly problem: string };

const extensionForm = /^[0-9A-Za-z*#._-]{1,64}$/;
const slotForm = /^park:([0-9A-Za-z_-]{1,32})$/i;

/** The slot of a parked call that a target names; null: it is another target. */
export function slotOf(target: string): string | null {
  return slotForm.exec(target)?.[1] ?? null;
}

const conferenceForm = /^conference:([0-9A-Za-z_-]{1,64})((?:;moderator|;tones=off|;agent=stay)*)$/i;

/** How a call enters a conference. */
export interface ConferenceTarget {
  readonly name: string;
  /** The conference ends when its last moderator leaves. */
  readonly isModerator: boolean;
  /** Whether tones say that it comes and goes. */
  readonly hasTones: boolean;
  /** Whether the agent of a call that opens the conference stays, as a party. */
  readonly keepsAgent: boolean;
}

/** The conference that a target names; null: it is another target. */
export function conferenceOf(target: string): ConferenceTarget | null {
  const [, name, parameters = ''] = conferenceForm.exec(target) ?? [];
  if (name === undefined) return null;
  return {
    name,
    isModerator: /;moderator/i.test(parameters),
    hasTones: !/;tones=off/i.test(parameters),
    keepsAgent: /;agent=stay/i.test(parameters),
  };
}

/** Whether a target is a place on the edge, where nobody is called. */
export function isPlace(target: string): boolean {
  return slotOf(target) !== null || conferenceOf(target) !== null;
}

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
  const tel = /^tel:(.*)$/i.exec(trimmed)?.[1];
  if (tel !== undefined) {
    // RFC 3966 section 5.1.4: a global number. A local one depends on where it is dialed.
    const global = /^\+[0-9.()-]+$/.test(tel) ? toE164(tel.replace(/[.()-]/g, '')) : null;
    if (global === null) return { problem: 'must be a tel URI of a global number, such as tel:+14155550100' };
    return { target: global, host: null, tel: `tel:${global}` };
  }
  const slot = slotOf(trimmed);
  if (slot !== null) return { target: `park:${slot}`, host: null };
  if (/^park:/i.test(trimmed)) return { problem: 'must be park: and 1 to 32 letters, digits, _ and -' };
  const conference = conferenceOf(trimmed);
  if (conference !== null) {
    const { name, isModerator, hasTones, keepsAgent } = conference;
    const manner = `${isModerator ? ';moderator' : ''}${hasTones ? '' : ';tones=off'}`;
    const parameters = `${manner}${keepsAgent ? ';agent=stay' : ''}`;
    return { target: `conference:${name}${parameters}`, host: null };
  }
  if (/^conference:/i.test(trimmed)) {
    return {
      problem:
        'must be conference: and 1 to 64 letters, digits, _ and -; only ;moderator, ;tones=off and ;agent=stay may follow',
    };
  }
  const number = toE164(trimmed);
  if (number !== null) return { target: number, host: null };
  if (extensionForm.test(trimmed)) return { target: trimmed, host: null };
  return { problem: 'must be an E.164 number, an extension or a SIP URI' };
}

/** How a transfer names a target: a tel URI stays one in a REFER, whose receiver dials it (RFC 3515 section 2.1). */
export function transferTargetOf(
  { target, tel }: Exclude<CallTarget, { readonly problem: string }>,
  method: 'bridge' | 'refer',
): string {
  return method === 'refer' && tel !== undefined ? tel : target;
}

/**
 * Credentials with which a browser may place calls (docs/phone.md). The user name says what the session allows, and the
 * password is a MAC of the user name under a key of the organization: the edge checks both without asking control, and
 * nothing is stored at the edge for a session before its first call.
 *
 *     user name   phone.<claims as JSON, base64url>
 *     password    base64url(HMAC-SHA256(key of the generation, user name))
 */
import { createHmac } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/schema';

const prefix = 'phone.';

/** Longest life of a session, s. The key of a generation is accepted for that long after the next one is in use. */
export const longestPhoneSessionS = 3600;
/** Most calls of a session. */
export const mostPhoneCalls = 100;
/** Longest name of a caller, characters. */
export const longestPhoneCaller = 64;
/** Longest party that a session calls over a trunk, characters. */
export const longestPhoneTarget = 128;
/** Dialled to talk with the agent of a session that is for one agent instead of a number. */
export const phoneAgentUser = 'agent';
/** Dialled to join a call as its supervisor. */
export const phoneSupervisorUser = 'supervise';
/** Longest user name that is read, octets: the claims with the longest caller in four octets a character. */
const longestUsername = 1_400;

/** What a session allows. Times in ms since the epoch. */
export const PhoneClaims = Type.Object({
  /** of the session */
  id: Type.String({ maxLength: 36 }),
  org_id: Type.String({ maxLength: 36 }),
  /** the one edge that accepts it */
  edge_id: Type.String({ maxLength: 64 }),
  /**
   * whose agent may be called, E.164 with plus; with `to` the number that calls; with `agent` {@link phoneAgentUser}; with
   * `supervise` {@link phoneSupervisorUser}
   */
  number: Type.String({ maxLength: 20 }),
  /** who is called over a trunk of the number, instead of its agent */
  to: Type.Optional(Type.String({ maxLength: longestPhoneTarget })),
  /** true: control has told the edge the agent (`phone.agent` of commands.ts) */
  agent: Type.Optional(Type.Literal(true)),
  /** the call that may be joined as its supervisor, instead of calling anybody */
  supervise: Type.Optional(Type.String({ maxLength: 64 })),
  /** with `supervise`: a tone tells the parties that somebody listens */
  tone: Type.Optional(Type.Literal(true)),
  /** shown as the caller */
  caller: Type.String({ minLength: 1, maxLength: longestPhoneCaller }),
  issued_at: Type.Integer(),
  expires_at: Type.Integer(),
  calls: Type.Integer({ minimum: 1, maximum: mostPhoneCalls }),
  /** of the key */
  generation: Type.Integer({ minimum: 0 }),
});
export type PhoneClaims = Static<typeof PhoneClaims>;

export function phoneUsername(claims: PhoneClaims): string {
  return prefix + Buffer.from(JSON.stringify(claims)).toString('base64url');
}

/** @param key base64 */
export function phonePassword(key: string, username: string): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(username).digest('base64url');
}

/** The claims of a user name, which say nothing before its password is checked. Null: it is none of a session. */
export function readPhoneUsername(username: string): PhoneClaims | null {
  if (!username.startsWith(prefix) || username.length > longestUsername) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(username.slice(prefix.length), 'base64url').toString());
    return Check(PhoneClaims, claims) ? claims : null;
  } catch {
    return null;
  }
}

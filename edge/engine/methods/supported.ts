/** Methods and extensions that peers may use. */
import type { Fields } from '../core/responses.ts';

/** The methods that Trunkline supports, listed in a 405 (RFC 3261 section 21.4.6). */
const ALLOWED = [
  'INVITE',
  'ACK',
  'BYE',
  'CANCEL',
  'OPTIONS',
  'REFER',
  'NOTIFY',
  'PRACK',
  'UPDATE',
  'INFO',
] as const;
/** Methods that an application may route, if only to reject them; all others get 405. */
export const KNOWN: ReadonlySet<string> = new Set([
  ...ALLOWED,
  'SUBSCRIBE',
  'MESSAGE',
  'REGISTER',
  'PUBLISH',
]);
export const ALLOW: Fields = [['Allow', ALLOWED.join(', ')]];

/** Option tags that the engine or the application supports; Require with any other gets 420. */
export const SUPPORTED: ReadonlySet<string> = new Set([
  '100rel',
  'timer',
  'replaces',
  'norefersub',
  'nosub',
  'explicitsub',
  'multiple-refer',
  'tdialog',
  'from-change',
  'histinfo',
  'path',
  'outbound',
  'gruu',
  'eventlist',
  'join',
  'answermode',
  'early-session',
  'resource-priority',
  'sdp-anat',
  'uui',
]);

/** Methods and extensions that peers may use with us. */
import type { Fields } from '../core/responses.ts';

/** The methods that Trunkline takes: what a 405 names (RFC 3261 section 21.4.6). */
const ALLOWED = ['INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'REFER', 'NOTIFY', 'PRACK', 'UPDATE'] as const;
/** Methods that an application may route, were it only to refuse them; every other one is answered 405. */
export const KNOWN: ReadonlySet<string> = new Set([
  ...ALLOWED,
  'INFO',
  'SUBSCRIBE',
  'MESSAGE',
  'REGISTER',
  'PUBLISH',
]);
export const ALLOW: Fields = [['Allow', ALLOWED.join(', ')]];

/** Option tags of which at least the application can take care; Require with another one is answered 420. */
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

/** Methods and extensions that peers may use. */
import { allow, allowedMethods } from '#shared/sip-methods.ts';
import type { Fields } from '../core/responses.ts';

/** Methods that an application may route, if only to reject them; all others get 405. */
export const KNOWN: ReadonlySet<string> = new Set([
  ...allowedMethods,
  'SUBSCRIBE',
  'MESSAGE',
  'REGISTER',
  'PUBLISH',
]);
/** Listed in a 405 (RFC 3261 section 21.4.6). */
export const ALLOW: Fields = [['Allow', allow]];

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

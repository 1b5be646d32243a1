/** The behavior of a kind of caller: one stateful object per conversation. */

import type { Chance } from '#shared/chance.ts';
import type { Heard } from '../hearing.ts';
import type { Manner } from '../manner.ts';
import type { CallerMove } from '../ports.ts';
import type { CallerProfile } from '../profile.ts';
import type { Wording } from '../wording.ts';

export interface CallerBehavior {
  next(heard: Heard): CallerMove;
}

export interface CallerBehaviorParts {
  readonly profile: CallerProfile;
  readonly chance: Chance;
  readonly manner: Manner;
  readonly wording: Wording;
}

export function say(text: string): CallerMove {
  return { type: 'say', text };
}

/** The caller's last words. @param reason one sentence, for the report */
export function leave(text: string, reason: string): CallerMove {
  return { type: 'say', text, leaves: reason };
}

export const silence: CallerMove = { type: 'silence' };

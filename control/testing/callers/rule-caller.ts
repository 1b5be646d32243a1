/** The caller without a language model: the manner of the scenario's category, with seeded randomness. */
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Category } from '#shared/api/agent-testing/scenarios.ts';
import { hear } from './hearing.ts';
import { Abusive } from './manners/abusive.ts';
import { Angry } from './manners/angry.ts';
import { Cooperative } from './manners/cooperative.ts';
import { Distracted } from './manners/distracted.ts';
import { Gatekeeper } from './manners/gatekeeper.ts';
import type { Manner, MannerParts } from './manners/manner.ts';
import { Rambling } from './manners/rambling.ts';
import { Screener } from './manners/screener.ts';
import { Voicemail } from './manners/voicemail.ts';
import type { Caller, CallerBrief } from './ports.ts';
import { callerProfile } from './profile.ts';
import { chance } from './random.ts';

export const ruleCallerEvaluator: Evaluator = { provider: 'embedded', model: 'rules', deterministic: true };

const machine = /\b(?:automat\w*|robot|screening service|call screening|machine|assistant of the phone)\b/i;

const manners: Readonly<Record<Category, (parts: MannerParts) => Manner>> = {
  VOICEMAIL: (parts) => new Voicemail(parts),
  CALL_SCREENER: (parts) => (machine.test(parts.profile.text) ? new Screener(parts) : new Gatekeeper(parts)),
  ANGRY_CALLER: (parts) => new Angry(parts),
  BELLIGERENT_CALLER: (parts) => new Abusive(parts),
  CONFUSED_CALLER: (parts) => new Rambling(parts),
  HAPPY_PATH: (parts) => new Cooperative(parts),
  EDGE_CASE: (parts) => new Distracted(parts),
  CUSTOM: (parts) => new Cooperative(parts),
};

/** The same brief, seed and agent give the same conversation. */
export function ruleCaller(brief: CallerBrief, seed: number): Caller {
  const manner = manners[brief.category]({ profile: callerProfile(brief), chance: chance(seed) });
  return { evaluator: ruleCallerEvaluator, next: async ({ heard }) => manner.next(hear(heard)) };
}

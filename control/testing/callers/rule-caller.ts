/** The caller without a language model: the behavior of the scenario's category, with seeded randomness. */
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Category } from '#shared/api/agent-testing/scenarios.ts';
import { type Chance, chance } from '#shared/chance.ts';
import { Abusive } from './behaviors/abusive.ts';
import { Angry } from './behaviors/angry.ts';
import type { CallerBehavior, CallerBehaviorParts } from './behaviors/behavior.ts';
import { Cooperative } from './behaviors/cooperative.ts';
import { Distracted } from './behaviors/distracted.ts';
import { Gatekeeper } from './behaviors/gatekeeper.ts';
import { Rambling } from './behaviors/rambling.ts';
import { Screener } from './behaviors/screener.ts';
import { Voicemail } from './behaviors/voicemail.ts';
import { hear } from './hearing.ts';
import { type Manner, mannerOf } from './manner.ts';
import { misheard } from './mishearing.ts';
import type { Caller, CallerBrief, CallerMove } from './ports.ts';
import { type CallerProfile, callerProfile, usualPatience } from './profile.ts';
import { Wording } from './wording.ts';

export const ruleCallerEvaluator: Evaluator = { provider: 'embedded', model: 'rules', deterministic: true };

const machine = /\b(?:automat\w*|robot|screening service|call screening|machine|assistant of the phone)\b/i;

const behaviors: Readonly<Record<Category, (parts: CallerBehaviorParts) => CallerBehavior>> = {
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
  const dice = chance(seed);
  const manner = mannerOf(brief);
  const profile = withPatience(callerProfile(brief), dice);
  const wording = new Wording(dice, manner);
  const behavior = behaviors[brief.category]({ profile, chance: dice, manner, wording });
  return {
    evaluator: ruleCallerEvaluator,
    next: async ({ heard }) => overThePhone(behavior.next(hear(heard)), manner, dice),
  };
}

/** Callers differ in patience, unless their prompt says how much they have. */
function withPatience(profile: CallerProfile, dice: Chance): CallerProfile {
  const more = dice.pick([-1, 0, 0, 1, 1]);
  return profile.patience === usualPatience ? { ...profile, patience: usualPatience + more } : profile;
}

/** What arrives at the agent. */
function overThePhone(move: CallerMove, { misheard: rate }: Manner, dice: Chance): CallerMove {
  if (rate === 0 || move.type !== 'say' || move.leaves !== undefined || dice.next() >= rate) return move;
  return { ...move, text: misheard(move.text, dice)?.text ?? move.text };
}

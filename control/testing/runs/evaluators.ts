/** The provider of each role in a run, so that results are honest about it (contract 6.4 `evaluator`). */
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { Models } from '#shared/models/models.ts';
import { modelCaller } from '../callers/model-caller.ts';
import type { Caller } from '../callers/ports.ts';
import { replayCaller, replayEvaluator } from '../callers/replay-caller.ts';
import { ruleCaller, ruleCallerEvaluator } from '../callers/rule-caller.ts';
import { modelJudge } from '../judging/model-judge.ts';
import type { Judge } from '../judging/ports.ts';
import { ruleJudge } from '../judging/rule-judge.ts';

export interface Evaluators {
  readonly caller: Evaluator;
  readonly agent: Evaluator;
  readonly judge: Evaluator;
}

/** Nobody knows what is behind its address. */
const foreign: Evaluator = { provider: 'foreign', model: 'unknown', deterministic: false };

/** Both sides of a past conversation. */
const historical: Evaluator = { provider: 'embedded', model: 'historical', deterministic: true };

export function evaluatorsOf(models: Models, scenario: Scenario): Evaluators {
  const judge = judgeOf(models).evaluator;
  if (scenario.scenario_type === 'HISTORICAL') return { caller: historical, agent: historical, judge };
  const live = models.caller?.evaluator ?? ruleCallerEvaluator;
  const caller = scenario.scenario_type === 'REPLAY' ? replayEvaluator : live;
  if (scenario.agent_id !== null) return { caller, agent: foreign, judge };
  const { dialogue, understanding } = models.agent({ onFailure: 'reject' });
  const agent = scenario.pathway_id === null ? dialogue.evaluator : understanding.evaluator;
  return { caller, agent, judge };
}

export function callerOf(models: Models, scenario: Scenario, seed: number): Caller {
  if (scenario.scenario_type === 'REPLAY') return replayCaller(scenario);
  return models.caller ? modelCaller(models.caller, scenario, seed) : ruleCaller(scenario, seed);
}

export function judgeOf({ judge }: Models): Judge {
  if (!judge) return ruleJudge;
  return modelJudge(judge, (name) => (name === judge.evaluator.model ? judge : null));
}

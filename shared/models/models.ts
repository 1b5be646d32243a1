/** The language models of a program by role; null without a model, when rules are used. */
import type { DialogueModel } from '#shared/agent/dialogue.ts';
import type { Understanding } from '#shared/agent/interfaces.ts';
import type { Clock } from '#shared/clock.ts';
import { Gate, type RequestGate } from './gate.ts';
import {
  LanguageModel,
  type LanguageModelOptions,
  type ModelRole,
  type ModelTrace,
  type Usage,
} from './language-model.ts';
import { languageUnderstanding } from './language-understanding.ts';
import { type ModelLimits, modelLimits } from './limits.ts';
import type { AgentModelSettings, ModelServer, TestModelSettings } from './model-settings.ts';
import type { ModelFailure } from './model-unavailable.ts';
import { ruleDialogue } from './rule-dialogue.ts';
import { ruleEngine } from './rule-engine.ts';

/** The models of one agent. */
export interface AgentModels {
  readonly understanding: Understanding;
  readonly dialogue: DialogueModel;
}

export interface AgentModelOptions {
  /** `base` or `turbo` (contract 9.1); anything else is `base` */
  readonly model?: string | undefined;
  /** 0..1, for speech of nodes without their own. Default 0.7. */
  readonly temperature?: number | undefined;
  /**
   * What happens when the model fails: answers come from the rules, so that a call continues, or the failure is
   * reported to a chat or test run.
   */
  readonly onFailure: 'rules' | 'reject';
  /** Makes answers repeatable, if the server supports it. */
  readonly seed?: number;
  /** Called with the error each time rules replace a model. */
  readonly failed?: (error: Error) => void;
}

export interface Models {
  /** Counters and gauges by Prometheus series. @param prefix such as `trunkline_edge_` */
  metrics(prefix: string): Record<string, number>;
  agent(options: AgentModelOptions): AgentModels;
  readonly caller: LanguageModel | null;
  readonly judge: LanguageModel | null;
  /** The same models, whose requests are traced. */
  traced(trace: ModelTrace): Models;
  /** The same models, whose requests are counted once more: for one conversation. */
  counted(usage: LanguageModelOptions['usage']): Models;
}

type Roles = Readonly<Record<ModelRole, LanguageModel | null>>;

export function createModels(
  settings: AgentModelSettings & Partial<TestModelSettings>,
  deps: {
    readonly clock: Clock;
    /** 0..1 */
    readonly random: () => number;
    readonly limits?: ModelLimits;
    /** Shared with models elsewhere; default: one of `settings.concurrency`. */
    readonly gate?: RequestGate;
    /** Called with the tokens of each request, in addition to the metrics. */
    readonly usage?: LanguageModelOptions['usage'];
  },
): Models {
  const { clock, random, limits = modelLimits } = deps;
  const gate = deps.gate ?? new Gate(settings.concurrency, clock);
  const counts = new ModelCounts();
  const common = {
    clock,
    random,
    gate,
    ...limits,
    attempted: counts.attempted,
    usage: (usage: Usage) => {
      counts.usage(usage);
      deps.usage?.(usage);
    },
  };
  const make = (role: ModelRole, server: ModelServer | null | undefined): LanguageModel | null =>
    server ? new LanguageModel({ ...common, ...server, role }) : null;
  const metrics = (prefix: string) => ({
    ...counts.snapshot(prefix),
    [`${prefix}model_requests`]: gate.inside,
    [`${prefix}model_requests_waiting`]: gate.waiting,
  });
  return modelsOf(
    {
      agent: make('agent', settings.agent),
      turbo: make('turbo', settings.turbo),
      caller: make('caller', settings.caller),
      judge: make('judge', settings.judge),
    },
    metrics,
  );
}

function modelsOf(roles: Roles, metrics: Models['metrics']): Models {
  const { agent: base, turbo, caller, judge } = roles;
  const changed = (change: (model: LanguageModel) => LanguageModel): Models => {
    const of = (model: LanguageModel | null) => model && change(model);
    return modelsOf({ agent: of(base), turbo: of(turbo), caller: of(caller), judge: of(judge) }, metrics);
  };
  return {
    metrics,
    counted: (usage) => changed((model) => model.counted(usage)),
    traced: (trace) => changed((model) => model.traced(trace)),
    agent({ model: wanted, temperature = 0.7, onFailure, failed, seed }) {
      if (!base || !turbo) return { understanding: ruleEngine, dialogue: ruleDialogue };
      const options = {
        temperature,
        fallback: onFailure === 'rules' ? ruleEngine : null,
        ...(failed && { failed }),
        ...(seed !== undefined && { seed }),
      };
      const own = wanted === 'turbo' ? turbo : base;
      const understanding = languageUnderstanding(
        own,
        (name) => (name === 'turbo' ? turbo : name === 'base' ? base : own),
        options,
      );
      return { understanding, dialogue: own };
    },
    caller,
    judge,
  };
}

/** Requests to language models and their tokens, by Prometheus series without their prefix. */
class ModelCounts implements Pick<LanguageModelOptions, 'usage' | 'attempted'> {
  readonly #counts = new Map<string, number>();

  readonly usage = ({ role, model, input_tokens, output_tokens }: Usage): void => {
    // The name comes from a setting; quotes and braces in it would end the label.
    const label = model.replace(/["\\\n{}]/g, '_');
    const series = (direction: string) =>
      `model_tokens_total{role="${role}",model="${label}",direction="${direction}"}`;
    this.#add(series('input'), input_tokens ?? 0);
    this.#add(series('output'), output_tokens ?? 0);
  };

  readonly attempted = (role: ModelRole, outcome: 'ok' | ModelFailure): void => {
    this.#add(`model_requests_total{role="${role}",outcome="${outcome}"}`, 1);
  };

  /** @param prefix such as `trunkline_edge_` */
  snapshot(prefix: string): Record<string, number> {
    return Object.fromEntries([...this.#counts].map(([series, value]) => [`${prefix}${series}`, value]));
  }

  #add(series: string, by: number): void {
    this.#counts.set(series, (this.#counts.get(series) ?? 0) + by);
  }
}

/**
 * The verdicts on nine callers are right, and the same for 100 seeds: for a capable agent, and for an incapable one.
 */
import { describe, expect, it } from 'vitest';
import type { AssertionView } from '#shared/api/agent-testing/assertions.ts';
import { ruleDialogue } from '#shared/models/rule-dialogue.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import { type ClinicCaller, clinicCallers, clinicGraph } from '../../../test/kit/control/clinic.ts';
import type { PathwayTextAgent } from '../../conversations/text-agent.ts';
import { ruleCaller } from '../callers/rule-caller.ts';
import { evaluateAssertions } from '../judging/assertions/evaluate.ts';
import { ruleJudge } from '../judging/rule-judge.ts';
import { runVerdict } from '../judging/scoring.ts';
import { Recorder } from '../mocks/mocks.ts';
import { templates } from '../scenarios/templates.ts';
import { type Conversed, converse } from './conversation.ts';

const callers = clinicCallers(new Map(templates.map((one) => [one.id, one.tester_persona_prompt])));
const seeds = Array.from({ length: 100 }, (_, index) => index * 7919);

function agentOf(graph: { nodes: readonly object[]; edges: readonly object[] }): PathwayTextAgent {
  const nodes = graph.nodes.map((node) => ({ ...node }));
  const edges = graph.edges.map((edge) => ({ ...edge }));
  const common = { orgId: 'o', pathwayId: 'p', version: 0 };
  return {
    kind: 'pathway',
    ...common,
    startNodeId: null,
    firstSentence: null,
    graphs: [{ ...common, nodes, edges, tools: [] }],
  };
}

/** The clinic without these nodes and their edges. */
function without(...ids: readonly string[]) {
  return {
    nodes: clinicGraph.nodes.filter(({ id }) => !ids.includes(id)),
    edges: clinicGraph.edges.filter(({ source, target }) => !ids.includes(source) && !ids.includes(target)),
  };
}

function talk(agent: PathwayTextAgent, caller: ClinicCaller, seed: number): Promise<Conversed> {
  const clock = { now: () => Date.UTC(2030, 0, 1) };
  const webhook = async () => ({ status: null, body: null, error: 'nothing is sent in this test' });
  return converse({
    runId: 'run',
    agent,
    models: { understanding: ruleEngine, dialogue: ruleDialogue },
    caller: ruleCaller(
      { ...caller, advanced_instructions: null, input_messages: null, metadata: null },
      seed,
    ),
    recorder: new Recorder({ outside: { mocks: [], allowReal: false }, agent, clock, webhook, tools: null }),
    clock,
    variables: {},
    maxTurns: caller.max_turns,
    seed,
    signal: new AbortController().signal,
    onLine: () => undefined,
  });
}

async function verdict(agent: PathwayTextAgent, caller: ClinicCaller, seed: number): Promise<string> {
  const { record } = await talk(agent, caller, seed);
  const assertions = caller.assertions.map(
    (one, order) => ({ id: String(order), is_required: true, weight: 1, order, ...one }) as AssertionView,
  );
  const results = await evaluateAssertions(assertions, record, { judge: ruleJudge, seed });
  return runVerdict(results, null).status;
}

async function verdicts(agent: PathwayTextAgent, caller: ClinicCaller): Promise<string[]> {
  const all = new Set<string>();
  for (const seed of seeds) all.add(await verdict(agent, caller, seed));
  return [...all];
}

const named = callers.map((caller) => [caller.template, caller] as const);

describe('a capable agent', () => {
  const agent = agentOf(clinicGraph);
  it.each(named)('passes %s with every seed', async (_, caller) => {
    expect(await verdicts(agent, caller)).toEqual(['PASSED']);
  });

  it.each(named)('says the same to %s with the same seed', async (_, caller) => {
    expect((await talk(agent, caller, 5)).record).toEqual((await talk(agent, caller, 5)).record);
  });
});

describe('an agent that lacks what a caller needs', () => {
  it.each([
    ['tmpl_voicemail_basic', ['mailbox']],
    ['tmpl_call_screener', ['held']],
    ['tmpl_gatekeeper', ['message']],
    ['tmpl_angry_caller', ['soothe']],
    ['tmpl_abusive_caller', ['farewell']],
    ['tmpl_rambling_caller', ['day']],
    ['tmpl_happy_path', ['book']],
    ['tmpl_edge_interruptions', ['name']],
    ['tmpl_custom_blank', ['done']],
  ] as const)('fails %s with every seed, without %j', async (template, ids) => {
    const caller = callers.find((one) => one.template === template);
    if (!caller) throw new Error(`there is no caller ${template}`);
    const all = await verdicts(agentOf(without(...ids)), caller);
    expect(all).toEqual(['FAILED']);
  });
});

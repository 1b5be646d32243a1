/** Each template passes a good agent, and fails three bad ones, whatever the seed. */
import { describe, expect, it } from 'vitest';
import type { AssertionView } from '#shared/api/agent-testing/assertions.ts';
import { ruleDialogue } from '#shared/models/rule-dialogue.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import { type TemplateAgent, templateAgents } from '../../../test/kit/control/template-agents.ts';
import type { PathwayTextAgent } from '../../conversations/text-agent.ts';
import { ruleCaller } from '../callers/rule-caller.ts';
import { evaluateAssertions } from '../judging/assertions/evaluate.ts';
import { ruleJudge } from '../judging/rule-judge.ts';
import { runVerdict } from '../judging/scoring.ts';
import { Recorder } from '../mocks/mocks.ts';
import { converse } from '../runs/conversation.ts';
import { templates } from './templates.ts';

const seeds = [1, 2, 3, 4, 5, 6, 7, 8].map((one) => one * 7919);

function agentOf(graph: TemplateAgent): PathwayTextAgent {
  const common = { orgId: 'o', pathwayId: 'p', version: 0 };
  const nodes = graph.nodes.map((node) => ({ ...node }));
  const edges = graph.edges.map((edge) => ({ ...edge }));
  return {
    kind: 'pathway',
    ...common,
    startNodeId: null,
    firstSentence: null,
    graphs: [{ ...common, nodes, edges, tools: [] }],
  };
}

async function run(id: string, wish: string, graph: TemplateAgent, seed: number) {
  const template = templates.find((one) => one.id === id);
  if (!template) throw new Error(`there is no template ${id}`);
  const clock = { now: () => Date.UTC(2030, 0, 1) };
  const agent = agentOf(graph);
  const webhook = async () => ({ status: 200, body: {}, error: null });
  const { record } = await converse({
    runId: 'run',
    agent,
    models: { understanding: ruleEngine, dialogue: ruleDialogue },
    caller: ruleCaller(
      {
        ...template,
        tester_persona_prompt: `${template.tester_persona_prompt}${wish}`,
        advanced_instructions: null,
        input_messages: null,
        metadata: null,
      },
      seed,
    ),
    recorder: new Recorder({ outside: { mocks: [], allowReal: true }, agent, clock, webhook, tools: null }),
    clock,
    variables: {},
    maxTurns: template.max_turns,
    seed,
    signal: new AbortController().signal,
    onLine: () => undefined,
  });
  const assertions = template.assertions.map((one): AssertionView => ({ ...one, id: String(one.order) }));
  const results = await evaluateAssertions(assertions, record, { judge: ruleJudge, seed });
  const lines = record.chat_history.map(({ role, content }) => `${role}: ${content}`);
  const why = results.filter(({ passed }) => !passed).map(({ name, reasoning }) => `${name}: ${reasoning}`);
  return { status: runVerdict(results, null).status, why: [...lines, record.ending.reason, ...why] };
}

/** The seeds whose verdict is another one, each with its conversation. */
async function others(id: string, wish: string, graph: TemplateAgent, expected: string) {
  const found: string[][] = [];
  for (const seed of seeds) {
    const { status, why } = await run(id, wish, graph, seed);
    if (status !== expected) found.push([`seed ${seed}: ${status}`, ...why]);
  }
  return found;
}

it('has agents for every template', () => {
  expect(templateAgents.map(({ template }) => template)).toEqual(templates.map(({ id }) => id));
  expect(templateAgents.filter(({ bad }) => Object.keys(bad).length < 3)).toEqual([]);
});

describe.each(templateAgents)('$template', ({ template, wish, good, bad }) => {
  it.each(Object.entries(good))('passes an agent that %s', async (_, graph) => {
    expect(await others(template, wish, graph, 'PASSED')).toEqual([]);
  });

  it.each(Object.entries(bad))('fails an agent that %s', async (_, graph) => {
    expect(await others(template, wish, graph, 'FAILED')).toEqual([]);
  });
});

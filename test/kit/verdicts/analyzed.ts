/** For tests and benchmarks: what analysis makes of a planted fault, after a real conversation. */
import type { AssertionView } from '#shared/api/agent-testing/assertions.ts';
import { ruleDialogue } from '#shared/models/rule-dialogue.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { PathwayTextAgent } from '../../../control/conversations/text-agent.ts';
import { type FailedCase, testedGraph } from '../../../control/testing/analysis/case.ts';
import { detect } from '../../../control/testing/analysis/detect.ts';
import type { Finding } from '../../../control/testing/analysis/finding.ts';
import { ruleCaller } from '../../../control/testing/callers/rule-caller.ts';
import { evaluateAssertions } from '../../../control/testing/judging/assertions/evaluate.ts';
import { ruleJudge } from '../../../control/testing/judging/rule-judge.ts';
import { runVerdict } from '../../../control/testing/judging/scoring.ts';
import { Recorder } from '../../../control/testing/mocks/mocks.ts';
import { converse } from '../../../control/testing/runs/conversation.ts';
import { type Business, type Fault, type Planted, pathwayOf, teamNumber } from './faults.ts';

interface Sound {
  readonly business: Business;
  readonly fault: null;
}

type Check = Pick<AssertionView, 'type' | 'name' | 'config'>;

/** What a careful author checks, with the outcome first. */
function checks({ first, order, price, second }: Business, caller: Fault['caller']): Check[] {
  if (caller === 'other') {
    return [
      { type: 'NODE_REACHED', name: 'comes to the team', config: { node_id: 'team' } },
      {
        type: 'LLM_JUDGE',
        name: 'is transferred to the right number',
        config: { prompt: `The call goes to our team.\nRubric:\n- agent transfers to ${teamNumber}` },
      },
    ];
  }
  const said = (value: string | number) => ({
    type: 'STRING_CHECK' as const,
    name: `reads back ${value}`,
    config: { value: String(value), target: 'agent' },
  });
  return [
    {
      type: 'NODES_VISITED',
      name: 'takes each step',
      config: { node_ids: [...order, 'done'], ordered: true },
    },
    {
      type: 'VARIABLE_EXTRACTED',
      name: first.variable,
      config: { variable_name: first.variable, expected_value: first.expected },
    },
    {
      type: 'VARIABLE_EXTRACTED',
      name: second.variable,
      config: { variable_name: second.variable, expected_value: second.expected },
    },
    said(first.expected),
    said(second.expected),
    { type: 'STRING_CHECK', name: 'says the price', config: { value: price, target: 'agent' } },
    {
      type: 'WEBHOOK_TRIGGERED',
      name: 'sends the order',
      config: {
        node_id: 'book',
        body_match: { [first.variable]: String(first.expected), [second.variable]: String(second.expected) },
      },
    },
    {
      type: 'LLM_JUDGE',
      name: 'is courteous',
      config: { prompt: 'Courteous.\nRubric:\n- agent never insults\n- agent never says: "calm down"' },
    },
  ];
}

interface Analyzed {
  readonly status: string;
  readonly failed: FailedCase;
  readonly findings: readonly Finding[];
}

export async function analyzed(
  { business, fault }: Planted | Sound,
  seed = 1,
  as: Fault['caller'] = fault?.caller ?? 'wish',
): Promise<Analyzed> {
  const good = pathwayOf(business);
  const { nodes, edges } = fault ? fault.plant(good, business) : good;
  const raw = { nodes: nodes.map((one) => ({ ...one })), edges: edges.map((one) => ({ ...one })) };
  const common = { orgId: 'o', pathwayId: 'p', version: 0 };
  const agent: PathwayTextAgent = {
    kind: 'pathway',
    ...common,
    startNodeId: null,
    firstSentence: null,
    graphs: [{ ...common, ...raw, tools: [] }],
  };
  const { first, second, wish, other } = business;
  const goal = as === 'wish' ? wish : other.says;
  const prompt = [`Goal: ${goal}`, ...[first, second].map(({ fact, value }) => `- ${fact}: ${value}`)].join(
    '\n',
  );
  const clock = { now: () => Date.UTC(2030, 0, 1) };
  const { record } = await converse({
    runId: 'run',
    agent,
    models: { understanding: ruleEngine, dialogue: ruleDialogue },
    caller: ruleCaller(
      {
        category: 'HAPPY_PATH',
        tester_persona_prompt: prompt,
        tester_persona_name: 'Sam Reed',
        advanced_instructions: null,
        input_messages: null,
        metadata: null,
      },
      seed,
    ),
    recorder: new Recorder({
      outside: { mocks: [], allowReal: true },
      agent,
      clock,
      webhook: async () => ({ status: 200, body: {}, error: null }),
      tools: null,
    }),
    clock,
    variables: {},
    maxTurns: 20,
    seed,
    signal: new AbortController().signal,
    onLine: () => undefined,
  });
  const assertions = checks(business, as).map(
    (one, order): AssertionView => ({ ...one, id: String(order), is_required: true, weight: 1, order }),
  );
  const results = await evaluateAssertions(assertions, record, { judge: ruleJudge, seed });
  const failed: FailedCase = {
    scenario: { name: 'planted', category: 'HAPPY_PATH', request_data: null, assertions, max_turns: 20 },
    record,
    facts: record.log.flatMap(({ node_id, fact }) => (fact ? [{ node_id, fact }] : [])),
    results,
    tested: testedGraph(raw),
    agentByRules: true,
  };
  return { status: runVerdict(results, null).status, failed, findings: detect(failed) };
}

export function isRight({ business, fault }: Planted, found: Finding | undefined): boolean {
  if (found === undefined || found.cause !== fault.cause || found.nodeId === null) return false;
  const nodes = typeof fault.nodes === 'function' ? fault.nodes(business) : fault.nodes;
  return nodes.includes(found.nodeId);
}

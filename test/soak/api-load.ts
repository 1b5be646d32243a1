/** Requests to the API beside the calls: lists, exports, configuration changes, chats, widgets, agent tests. */
import { RunStarted } from '#shared/api/agent-testing/runs.ts';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { ChatCreated } from '#shared/api/chats.ts';
import { PathwayCreated } from '#shared/api/pathways.ts';
import { CallLogPage } from '#shared/api/sip-calls.ts';
import { ThreadAnswer, WidgetOne } from '#shared/api/widgets.ts';
import type { Api } from '../kit/programs/api.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { Random } from '../simulation/random.ts';

export interface ApiContext {
  readonly api: Api;
  readonly random: Random;
  readonly numbers: readonly string[];
  /** Asks for a key, ends the conversation. */
  readonly pathway: string;
  readonly widget: string;
  readonly scenario: string;
  /** An inbound number that the pathway of `scenario` answers. */
  readonly tested: string;
  /** Unique names. */
  next(): number;
}

type Script = (context: ApiContext) => Promise<void>;

/** A page of the call log, sometimes filtered. */
function logQuery({ random, numbers }: ApiContext): string {
  const filters = [
    '',
    '&direction=inbound',
    '&direction=outbound',
    '&status=completed',
    '&status=busy',
    `&phone_number=${encodeURIComponent(random.pick(numbers))}`,
  ];
  return `/v1/sip/calls?limit=${random.pick([20, 50, 200, 500])}${random.pick(filters)}`;
}

export const apiScripts = {
  'call log, two pages': async (context) => {
    const path = logQuery(context);
    const { calls } = (await context.api.read(CallLogPage, 'GET', path)).data;
    const last = calls.at(-1);
    if (last) await context.api.ok('GET', `${path}&before=${last.id}`);
  },
  'call with trace': async ({ api, random }) => {
    const { calls } = (await api.read(CallLogPage, 'GET', '/v1/sip/calls?limit=50')).data;
    const ended = calls.filter(({ ended_at }) => ended_at !== null);
    if (ended.length === 0) return;
    const { id } = random.pick(ended);
    await api.ok('GET', `/v1/calls/${id}`);
    for (const path of ['trace', 'trace.pcap']) {
      const { status, text } = await api.request('GET', `/v1/sip/calls/${id}/${path}`);
      // A call of the soak's other end may have no trace of its own.
      if (status !== 200 && status !== 404) throw new Error(`${path}: ${status} ${text}`);
    }
  },
  'other lists': async ({ api, random, numbers, pathway, widget }) => {
    const path = random.pick([
      '/v1/inbound',
      '/v1/sip/numbers',
      '/v1/pathway',
      '/v1/personas',
      '/v2/tools',
      '/v1/org/audit',
      '/v1/pathway/chat?limit=50',
      '/v1/agent-testing/runs?limit=50',
      `/v1/agent-testing/analytics/${pathway}`,
      `/v1/agent-testing/analytics/${pathway}/enhanced`,
      `/v1/widget/${widget}/threads?limit=50`,
      `/v1/sip/status?phone_number=${encodeURIComponent(random.pick(numbers))}`,
      '/openapi.json',
    ]);
    await api.ok('GET', path);
  },
  'chat with the pathway': async ({ api, pathway }) => {
    const { data } = await api.read(ChatCreated, 'POST', '/v1/pathway/chat/create', {
      pathway_id: pathway,
    });
    await api.ok('POST', `/v1/pathway/chat/${data.chat_id}`, { message: 'Hello' });
    await api.ok('GET', `/v1/pathway/chat/${data.chat_id}`);
    await api.ok('DELETE', `/v1/pathway/chat/${data.chat_id}`);
  },
  'thread of a widget': async ({ api, widget }) => {
    const { data } = await api.read(ThreadAnswer, 'POST', `/v1/widget/${widget}/threads`, {});
    const path = `/v1/widget/${widget}/threads/${data.thread.id}`;
    await api.ok('POST', `${path}/messages`, { content: 'Good morning' });
    await api.ok('POST', `${path}/end`, {});
  },
  'widget, made and deleted': async ({ api, pathway, next }) => {
    const body = { name: `Shop ${next()}`, pathway_id: pathway };
    const { data } = await api.read(WidgetOne, 'POST', '/v1/widget', body);
    await api.ok('DELETE', `/v1/widget/${data.widget.id}`);
  },
  'pathway, made, changed and deleted': async ({ api, next }) => {
    const name = `Pathway ${next()}`;
    const { pathway_id } = await api.read(PathwayCreated, 'POST', '/v1/pathway/create', { name });
    const data = { name: 'End', text: `Goodbye from ${name}.`, isStart: true };
    await api.ok('POST', `/v1/pathway/${pathway_id}`, {
      nodes: [{ id: 'end', type: 'End Call', data }],
      edges: [],
    });
    await api.ok('DELETE', `/v1/pathway/${pathway_id}`);
  },
  'configuration of a number': async ({ api, random, numbers, next }) => {
    const number = random.pick(numbers);
    await api.ok('POST', `/v1/inbound/${encodeURIComponent(number)}`, { label: `Line ${next()}` });
  },
  'agent test in text': async (context) => {
    await testRun(context, {});
  },
  'agent test over a call': async (context) => {
    await testRun(context, { transport: 'sip', phone_number: context.tested });
  },
} satisfies Record<string, Script>;

export type ApiKind = keyof typeof apiScripts;

/** Of 100 operations. */
export const apiWeights: Readonly<Record<ApiKind, number>> = {
  'call log, two pages': 22,
  'call with trace': 15,
  'other lists': 20,
  'chat with the pathway': 14,
  'thread of a widget': 9,
  'widget, made and deleted': 4,
  'pathway, made, changed and deleted': 4,
  'configuration of a number': 4,
  'agent test in text': 7,
  'agent test over a call': 1,
};

async function testRun({ api, scenario, next }: ApiContext, how: Record<string, unknown>): Promise<void> {
  const path = `/v1/agent-testing/scenarios/${scenario}/run`;
  const { run_id } = await api.read(RunStarted, 'POST', path, { seed: next(), ...how });
  const status = await eventually(
    `the end of test run ${run_id}`,
    async () => {
      const { body } = await api.ok('GET', `/v1/agent-testing/runs/${run_id}`);
      const now = String(body.status);
      return now === 'PENDING' || now === 'RUNNING' ? null : now;
    },
    150_000,
  );
  if (status === 'ERROR') throw new Error(`test run ${run_id} ended in ERROR`);
}

/** @returns the id of a scenario of the pathway */
export async function makeScenario(api: Api, pathway_id: string): Promise<string> {
  const body = { name: 'Soak', pathway_id, category: 'HAPPY_PATH', max_turns: 3 };
  return (await api.read(ScenarioAnswer, 'POST', '/v1/agent-testing/scenarios', body)).id;
}

/** @returns the id of a widget of the pathway */
export async function makeWidget(api: Api, pathway_id: string): Promise<string> {
  const body = { name: 'Soak', pathway_id };
  return (await api.read(WidgetOne, 'POST', '/v1/widget', body)).data.widget.id;
}

/** What the screens about agents show in tests and pictures: seeded over the API, without calls. */
import { PathwayCreated } from '#shared/api/pathways.ts';
import type { Api } from '../programs/api.ts';
import { eventually } from '../programs/eventually.ts';
import { faultyGraph, missingEdge, wrongTransfer } from './dental.ts';

const testing = '/v1/agent-testing';

const node = (id: string, type: string, data: object) => ({ id, type, data: { name: id, ...data } });
const edge = (source: string, target: string, label: string) => ({ source, target, data: { label } });

const nodes = [
  node('Greeting', 'Default', { isStart: true, text: 'Harbour Dental, how can I help you?' }),
  node('Book', 'Default', { text: 'Gladly. What is your account number?' }),
  node('Booked', 'End Call', { text: 'You are booked. Goodbye.' }),
  node('Opening hours', 'End Call', { text: 'We are open from eight to six. Goodbye.' }),
];
const edges = [edge('Greeting', 'Book', 'Book an appointment'), edge('Book', 'Booked', 'Number given')];
/** The first version lacks it. */
const cure = edge('Greeting', 'Opening hours', 'Opening hours');

export interface ConsoleScene {
  readonly pathway: string;
  /** Passes on both versions. */
  readonly books: string;
  /** Fails on the first version. */
  readonly hours: string;
}

/** A front desk with a fault in its first version, and two scenarios, one of which meets it. */
export async function seedConsoleScene(api: Api): Promise<ConsoleScene> {
  const { pathway_id: pathway } = await api.read(PathwayCreated, 'POST', '/v1/pathway/create', {
    name: 'Front desk',
  });
  await api.ok('POST', `/v1/pathway/${pathway}/version`, { name: 'first', nodes, edges });
  await api.ok('POST', `/v1/pathway/${pathway}/version`, { name: 'second', nodes, edges: [...edges, cure] });
  // Before there are scenarios: they would not let it pass.
  await api.ok('POST', `/v1/pathway/${pathway}/publish`, { version_id: 1 });
  const scenario = async (body: object) => {
    const answer = await api.ok('POST', `${testing}/scenarios`, {
      pathway_id: pathway,
      is_required_for_promotion: true,
      ...body,
    });
    return String(JSON.parse(answer.text).id);
  };
  return {
    pathway,
    books: await scenario({
      name: 'Books an appointment',
      category: 'HAPPY_PATH',
      tester_persona_prompt: 'You are Sam Reed. You want to book an appointment.\n- account number: 4711',
      assertions: [
        { type: 'NODE_REACHED', name: 'Is booked', config: { node_id: 'Booked' } },
        {
          type: 'STRING_CHECK',
          name: 'Says goodbye',
          is_required: false,
          config: { target: 'agent', value: 'Goodbye' },
        },
      ],
    }),
    hours: await scenario({
      name: 'Asks for the hours',
      scenario_type: 'REPLAY',
      input_messages: [{ role: 'user', content: 'When are you open?' }],
      assertions: [
        { type: 'NODE_REACHED', name: 'Comes to the hours', config: { node_id: 'Opening hours' } },
      ],
    }),
  };
}

/** Runs a scenario on a version, and waits for its end. @returns the run's id */
export async function runToEnd(api: Api, scenario: string, version: number, seed = 1): Promise<string> {
  const answer = await api.ok('POST', `${testing}/scenarios/${scenario}/run`, {
    version_number: version,
    seed,
  });
  const id = String(JSON.parse(answer.text).run_id);
  return eventually('the run to end', async () => {
    const run = JSON.parse((await api.ok('GET', `${testing}/runs/${id}`)).text);
    return run.completed_at === null ? null : id;
  });
}

/** A pathway whose version 1 has faults, each met by a scenario. @returns its id */
export async function seedFaults(api: Api): Promise<string> {
  const { pathway_id } = await api.read(PathwayCreated, 'POST', '/v1/pathway/create', {
    name: 'Faulty desk',
  });
  await api.ok('POST', `/v1/pathway/${pathway_id}/version`, { name: 'faulty', ...faultyGraph });
  for (const met of [missingEdge, wrongTransfer]) {
    await api.ok('POST', `${testing}/scenarios`, { pathway_id, ...met });
  }
  return pathway_id;
}

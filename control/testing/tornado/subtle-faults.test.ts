/** Faults that no single node shows: words that take the wrong edge, and a request sent without a value. */
import { beforeEach, describe, expect, it } from 'vitest';
import { RunAnalysis } from '#shared/api/agent-testing/runs.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';
import { onceIsEnough } from '../../../test/kit/db/test-database.ts';

const node = (id: string, type: string, data: object) => ({ id, type, data: { name: id, ...data } });
const edge = (source: string, target: string, label: string) => ({ source, target, data: { label } });

const clinic = {
  nodes: [
    node('greet', 'Default', { isStart: true, text: 'City Clinic, how can I help you?' }),
    node('move', 'Default', { text: 'Which day would you like instead?' }),
    node('moved', 'End Call', { text: 'It is moved. Goodbye.' }),
    node('cancel', 'Default', { text: 'Shall I cancel it?' }),
    node('cancelled', 'End Call', { text: 'It is cancelled. Goodbye.' }),
  ],
  edges: [
    edge('greet', 'move', 'Change the appointment'),
    edge('greet', 'cancel', 'End of treatment'),
    edge('move', 'moved', 'Day given'),
    edge('cancel', 'cancelled', 'Yes'),
  ],
};

const garage = {
  nodes: [
    node('greet', 'Default', { isStart: true, text: 'Northside Garage, how can I help you?' }),
    node('when', 'Default', { text: 'Which day suits you?', extractVars: [['day', 'string', 'the day']] }),
    node('book', 'Webhook', {
      url: 'https://api.example.com/bookings',
      method: 'POST',
      body: '{"date":"{{appointment_day}}"}',
    }),
    node('done', 'End Call', { text: 'You are booked for {{day}}. Goodbye.' }),
  ],
  edges: [
    edge('greet', 'when', 'Book an appointment'),
    edge('when', 'book', 'Day given'),
    edge('book', 'done', 'Sent'),
  ],
};

/** Bodies are written as texts or as objects. */
function withObject({ nodes, edges }: { nodes: readonly { id: string; data: object }[]; edges: object[] }) {
  const body = { date: '{{appointment_day}}' };
  return {
    nodes: nodes.map((one) => (one.id === 'book' ? { ...one, data: { ...one.data, body } } : one)),
    edges,
  };
}

/** "Yes" also leads back. */
const hotel = {
  nodes: [
    node('greet', 'Default', { isStart: true, text: 'Hotel Lake, would you like to book a room?' }),
    node('nights', 'Default', {
      text: 'For how many nights?',
      extractVars: [['nights', 'integer', 'number of nights']],
    }),
    node('confirm', 'Default', { text: 'So {{nights}} nights, is that right?' }),
    node('done', 'End Call', { text: 'Your room is booked. Goodbye.' }),
  ],
  edges: [
    edge('greet', 'nights', 'Yes, book a room'),
    edge('nights', 'confirm', 'Number given'),
    edge('confirm', 'nights', 'No, wrong'),
    edge('confirm', 'nights', 'Yes, right'),
  ],
};

/** Each of the two edges leads to where the other one should. */
const bank = {
  nodes: [
    node('greet', 'Default', { isStart: true, text: 'Harbour Bank, how can I help you?' }),
    node('block', 'End Call', { text: 'I have blocked the lost card. Goodbye.' }),
    node('activate', 'End Call', { text: 'Your new card is activated. Goodbye.' }),
  ],
  edges: [
    edge('greet', 'activate', 'Lost or stolen card, block it'),
    edge('greet', 'block', 'Activate a new card'),
  ],
};

/** The keys are swapped. */
const menu = {
  nodes: [
    node('menu', 'Default', { isStart: true, text: 'Press 1 for sales, or press 2 for support.' }),
    node('sales', 'End Call', { text: 'Sales. Goodbye.' }),
    node('support', 'End Call', { text: 'Support. Goodbye.' }),
  ],
  edges: [edge('menu', 'support', 'User pressed 1'), edge('menu', 'sales', 'User pressed 2')],
};

/** Two questions, of which the second is never asked. */
const survey = {
  nodes: [
    node('greet', 'Default', {
      isStart: true,
      text: 'Northwind here, do you have a minute for two questions?',
    }),
    node('service', 'Default', { text: 'From 1 to 9, how would you rate our service?' }),
    node('recommend', 'Default', {
      text: 'And from 1 to 9, would you recommend us?',
      extractVars: [['recommend', 'integer', 'from 1 to 9']],
    }),
    node('thanks', 'End Call', { text: 'Thank you. Goodbye.' }),
  ],
  edges: [
    edge('greet', 'service', 'Yes'),
    edge('service', 'thanks', 'Rating given'),
    edge('recommend', 'thanks', 'Rating given'),
  ],
};

const test = emptiedForEach(startControl);
let client: TornadoClient;
beforeEach(async () => {
  client = new TornadoClient(test);
});

const analysisOf = async (runId: unknown) =>
  (await client.call('POST', `/runs/${String(runId)}/analyze`)).read(RunAnalysis).analysis;

it('two edges that were exchanged are exchanged again, though one of their callers is tested', async () => {
  const pathway_id = await client.pathway(bank);
  const wants = (what: string, node_id: string) =>
    client.scenario({
      pathway_id,
      name: what,
      tester_persona_prompt: `You want to ${what}.`,
      assertions: [{ type: 'NODE_REACHED', config: { node_id } }],
    });
  await wants('report a lost card', 'block');
  const session = await client.endedSession(await client.tornado(pathway_id, { version_number: 1 }));
  expect(session.status).toBe('COMPLETED_ALL_PASSED');
  expect(session.fixes).toMatchObject([
    {
      target_node: 'greet',
      type: 'flow_change',
      diff: [
        { op: 'changed', before: 'activate', after: 'block' },
        { op: 'changed', before: 'block', after: 'activate' },
      ],
    },
  ]);
});

it('words that take the wrong edge are found, and the right edge learns them', async () => {
  const pathway_id = await client.pathway(clinic);
  const wants = (what: string, node_id: string) =>
    client.scenario({
      pathway_id,
      name: what,
      tester_persona_prompt: `You want to ${what} your appointment.\n- day: Friday`,
      assertions: [{ type: 'NODE_REACHED', config: { node_id } }],
    });
  const cancels = await wants('cancel', 'cancelled');
  await wants('change', 'moved');
  const analysis = await analysisOf((await client.run(cancels, { seed: 1 })).id);
  expect(analysis).toMatchObject({
    root_cause_class: 'flow',
    root_cause: expect.stringMatching(
      /^In “greet” the caller said ".*cancel my appointment.*", and the conversation went to “move”\. “cancelled” lies behind “cancel”, which is reached by the edge "End of treatment"\.$/,
    ),
    suggestions: [{ type: 'flow_change', target_node_id: 'greet' }],
  });
  const session = await client.endedSession(await client.tornado(pathway_id, { version_number: 1 }));
  expect(session).toMatchObject({ status: 'COMPLETED_ALL_PASSED', passed_scenarios: 2, forked_version: 2 });
});

// What is found and tried is the same on both databases.
describe.runIf(onceIsEnough)('also found', () => {
  it.each([
    ['text', garage],
    ['object', withObject(garage)],
  ])(
    'a request sent without a value is explained, and its body, a %s, uses the right variable',
    async (_, graph) => {
      const pathway_id = await client.pathway(graph);
      const id = await client.scenario({
        pathway_id,
        name: 'Books',
        tester_persona_prompt: 'You want to book an appointment.\n- day: Tuesday',
        assertions: [
          { type: 'WEBHOOK_TRIGGERED', config: { node_id: 'book', body_match: { date: 'Tuesday' } } },
        ],
      });
      const run = await client.run(id, { seed: 1 });
      const [result] = run.assertion_results;
      expect(result?.reasoning).toBe(
        '0 of 1 webhook calls match; wanted at least 1 from book with {"date":"Tuesday"}. In one date was "", not "Tuesday".',
      );
      const analysis = await analysisOf(run.id);
      expect(analysis).toMatchObject({
        root_cause_class: 'data',
        root_cause:
          '“book” sends {{appointment_day}}, which nothing had filled. "Tuesday" is known as {{day}}.',
      });
      const session = await client.endedSession(await client.tornado(pathway_id, { version_number: 1 }));
      expect(session).toMatchObject({ status: 'COMPLETED_ALL_PASSED', passed_scenarios: 1 });
    },
  );

  it('a loop is found, but not in the words of a caller who gives up', async () => {
    const pathway_id = await client.pathway(hotel);
    const id = await client.scenario({
      pathway_id,
      name: 'Books',
      tester_persona_prompt: 'You want to book a room.\n- nights: 3',
      assertions: [{ type: 'NODE_REACHED', config: { node_id: 'done' } }],
    });
    const run = await client.run(id, { seed: 1 });
    expect(String(run.reasoning)).toContain('The caller lost patience.');
    expect(await analysisOf(run.id)).toMatchObject({
      root_cause_class: 'flow',
      root_cause: expect.stringMatching(
        /^The conversation went from “confirm” back to “nights” \d times, by the edge "Yes, right" when the caller said "/,
      ),
    });
    const session = await client.endedSession(await client.tornado(pathway_id, { version_number: 1 }));
    expect(session).toMatchObject({
      status: 'COMPLETED_ALL_PASSED',
      iterations: [
        { diff: [{ op: 'changed', path: 'edges/#3/target', before: 'nights', after: 'done' }] },
        {},
      ],
    });
  });

  it("swapped keys are reported, and no edge takes another's key", async () => {
    const pathway_id = await client.pathway(menu);
    const id = await client.scenario({
      pathway_id,
      name: 'Sales',
      tester_persona_prompt: 'You want to talk to sales.',
      assertions: [{ type: 'NODE_REACHED', config: { node_id: 'sales' } }],
    });
    const analysis = await analysisOf((await client.run(id, { seed: 1 })).id);
    expect(analysis.suggestions[0]).toMatchObject({
      target_node_id: 'menu',
      suggested_change: 'Have the key that “menu” names for it lead to “sales”.',
    });
    const session = await client.endedSession(await client.tornado(pathway_id, { version_number: 1 }));
    expect(session).toMatchObject({ status: 'STUCK', forked_version: null });
  });

  it('a question that is skipped is asked of every caller, not of those with one answer', async () => {
    const pathway_id = await client.pathway(survey);
    const id = await client.scenario({
      pathway_id,
      name: 'Answers both',
      tester_persona_prompt: 'You answer a survey.\n- service: 4\n- recommend: 4',
      assertions: [
        { type: 'NODE_REACHED', config: { node_id: 'recommend' } },
        { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'recommend', expected_value: 4 } },
      ],
    });
    expect(await analysisOf((await client.run(id, { seed: 1 })).id)).toMatchObject({
      root_cause_class: 'flow',
      suggestions: [{ target_node_id: 'service' }],
    });
    const session = await client.endedSession(await client.tornado(pathway_id, { version_number: 1 }));
    expect(session).toMatchObject({
      status: 'COMPLETED_ALL_PASSED',
      held_out: { variants: 3, passed: 3 },
      iterations: [{ diff: [{ path: 'edges/#1/target', before: 'thanks', after: 'recommend' }] }, {}],
    });
  });

  it('a sentence that a check forbids is not deleted where the pathway would do the same without it', async () => {
    const pathway_id = await client.pathway({
      nodes: [
        node('greet', 'Default', { isStart: true, text: 'Bank, how can I help you?' }),
        node('block', 'End Call', { text: 'Your card is blocked now. Goodbye.' }),
      ],
      edges: [edge('greet', 'block', 'Block a card')],
    });
    await client.scenario({
      pathway_id,
      name: 'Is not verified',
      tester_persona_prompt: 'You want to block your card.',
      assertions: [
        { type: 'STRING_CHECK', config: { value: 'card is blocked', target: 'agent', negate: true } },
      ],
    });
    const session = await client.endedSession(await client.tornado(pathway_id, { version_number: 1 }));
    expect(session).toMatchObject({ status: 'STUCK', forked_version: null, held_out: null });
  });
});

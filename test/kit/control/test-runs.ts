/** For tests: scenarios that run, and waiting for conditions by announcements. */
import type { Static, TSchema } from 'typebox';
import { BatchAnswer } from '#shared/api/agent-testing/batches.ts';
import { RunAnswer, RunStarted } from '#shared/api/agent-testing/runs.ts';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { PathwayCreated } from '#shared/api/pathways.ts';
import { runSubject } from '../../../control/testing/records/subjects.ts';
import { batchSubject } from '../../../control/testing/runs/live.ts';
import type { Answer } from '../http/answer.ts';
import type { TestControl } from './harness.ts';

const base = '/v1/agent-testing';
type Run = Static<typeof RunAnswer>;
type Batch = Static<typeof BatchAnswer>;
const over = ({ status }: Run | Batch) => status !== 'PENDING' && status !== 'RUNNING';

export class TestingClient {
  readonly #test: TestControl;
  readonly #key: string;
  #names = 0;

  constructor(test: TestControl, key = test.key) {
    this.#test = test;
    this.#key = key;
  }

  call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const options = { key: this.#key, ...(body !== undefined && { body }) };
    return this.#test.call(method, `${base}${path}`, options);
  }

  /** A pathway with this graph, live and as version 1. Returns its id. */
  async pathway(graph: {
    readonly nodes: readonly object[];
    readonly edges: readonly object[];
  }): Promise<string> {
    const at = { key: this.#key };
    const made = await this.#test.call('POST', '/v1/pathway/create', { ...at, body: { name: 'Tested' } });
    const id = made.read(PathwayCreated).pathway_id;
    const stored = await this.#test.call('POST', `/v1/pathway/${id}`, { ...at, body: graph });
    if (stored.status !== 200) throw new Error(stored.text);
    await this.#test.call('POST', `/v1/pathway/${id}/version`, { ...at, body: { name: 'v', ...graph } });
    return id;
  }

  /** Returns the id of a new scenario. */
  async scenario(body: object): Promise<string> {
    this.#names++;
    const answer = await this.call('POST', '/scenarios', { name: `Scenario ${this.#names}`, ...body });
    return answer.read(ScenarioAnswer).id;
  }

  async start(scenarioId: string, body: object = {}): Promise<string> {
    return (await this.call('POST', `/scenarios/${scenarioId}/run`, body)).read(RunStarted).run_id;
  }

  /** The run once it has ended. */
  ended(runId: string): Promise<Run> {
    return this.#until(RunAnswer, `/runs/${runId}`, runSubject(runId), over);
  }

  /** The batch once it has ended. */
  endedBatch(id: string): Promise<Batch> {
    return this.#until(BatchAnswer, `/batches/${id}`, batchSubject(id), over);
  }

  /** Starts a scenario's run and waits for its end. */
  async run(scenarioId: string, body: object = {}): Promise<Run> {
    return this.ended(await this.start(scenarioId, body));
  }

  async #until<S extends TSchema>(
    schema: S,
    path: string,
    subject: string,
    done: (body: Static<S>) => boolean,
  ): Promise<Static<S>> {
    const { announcements } = this.#test.control.services;
    for (;;) {
      const news = Promise.withResolvers<void>();
      const stop = announcements.on(subject, news.resolve);
      const body = (await this.call('GET', path)).read(schema);
      if (done(body)) {
        stop();
        return body;
      }
      await news.promise;
      stop();
    }
  }
}

/** Asks for a day and a name and books; says goodbye to rude callers. */
export const bookingGraph = {
  nodes: [
    {
      id: 'greet',
      type: 'Default',
      data: { name: 'Greet', isStart: true, text: 'Hello, this is Green Clinic. How can I help you?' },
    },
    {
      id: 'name',
      type: 'Default',
      data: {
        name: 'Name',
        text: 'Sure. What is your name?',
        extractVars: [['patient_name', 'string', 'full name']],
      },
    },
    {
      id: 'day',
      type: 'Default',
      data: {
        name: 'Day',
        text: 'Which date suits you?',
        extractVars: [['day', 'date', 'date of the appointment']],
      },
    },
    {
      id: 'book',
      type: 'Webhook',
      data: {
        name: 'Book',
        url: 'https://clinic.example.com/book',
        method: 'POST',
        body: '{"name":"{{patient_name}}","day":"{{day}}"}',
        responseData: [{ name: 'booking_id', data: '$.booking.id' }],
      },
    },
    { id: 'done', type: 'End Call', data: { name: 'Done', text: 'You are booked. Goodbye.' } },
    { id: 'sorry', type: 'End Call', data: { name: 'Sorry', text: 'That did not work. Goodbye.' } },
  ],
  edges: [
    { source: 'greet', target: 'name', data: { label: 'appointment' } },
    { source: 'name', target: 'day', data: { label: 'says the name' } },
    { source: 'day', target: 'book', data: { label: 'says the date' } },
    { source: 'book', target: 'done', data: { label: 'success' } },
    { source: 'book', target: 'sorry', data: { label: 'failure' } },
  ],
};

export const bookingPersona = [
  'You are Sam Reed. You want to book an appointment.',
  '- date: May 4, 2030',
].join('\n');

/** For tests: scenarios that run, and waiting for conditions by announcements. */
import { runSubject } from '../../../control/testing/records/subjects.ts';
import { batchSubject } from '../../../control/testing/runs/live.ts';
import type { Answer, Json } from '../http/answer.ts';
import type { TestControl } from './harness.ts';

const base = '/v1/agent-testing';
const over: ReadonlySet<string> = new Set(['PASSED', 'FAILED', 'ERROR', 'CANCELLED']);

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
    const id = String(made.body.pathway_id);
    const stored = await this.#test.call('POST', `/v1/pathway/${id}`, { ...at, body: graph });
    if (stored.status !== 200) throw new Error(stored.text);
    await this.#test.call('POST', `/v1/pathway/${id}/version`, { ...at, body: { name: 'v', ...graph } });
    return id;
  }

  /** Returns the id of a new scenario. */
  async scenario(body: object): Promise<string> {
    this.#names++;
    const answer = await this.call('POST', '/scenarios', { name: `Scenario ${this.#names}`, ...body });
    if (answer.status !== 200) throw new Error(answer.text);
    return String(answer.body.id);
  }

  async start(scenarioId: string, body: object = {}): Promise<string> {
    const answer = await this.call('POST', `/scenarios/${scenarioId}/run`, body);
    if (answer.status !== 200) throw new Error(answer.text);
    return String(answer.body.run_id);
  }

  /** The run once it has ended. */
  ended(runId: string): Promise<Json> {
    return this.#until(`/runs/${runId}`, runSubject(runId), ({ status }) => over.has(String(status)));
  }

  /** The batch once it has ended. */
  endedBatch(id: string): Promise<Json> {
    return this.#until(`/batches/${id}`, batchSubject(id), ({ status }) => over.has(String(status)));
  }

  /** Starts a scenario's run and waits for its end. */
  async run(scenarioId: string, body: object = {}): Promise<Json> {
    return this.ended(await this.start(scenarioId, body));
  }

  async #until(path: string, subject: string, done: (body: Json) => boolean): Promise<Json> {
    const { announcements } = this.#test.control.services;
    for (;;) {
      const news = Promise.withResolvers<void>();
      const stop = announcements.on(subject, news.resolve);
      const { body, status, text } = await this.call('GET', path);
      if (status !== 200) throw new Error(text);
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

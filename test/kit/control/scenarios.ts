/** Scenarios over the API, for tests. */
import { PathwayCreated } from '#shared/api/pathways.ts';
import type { Answer } from '../http/answer.ts';
import type { TestControl } from './harness.ts';

export const base = '/v1/agent-testing';
export const unknownId = '00000000-0000-4000-8000-000000000000';

export class Scenarios {
  readonly #test: TestControl;
  /** Of new scenarios. */
  readonly pathwayId: string;
  #number = 0;

  private constructor(test: TestControl, pathwayId: string) {
    this.#test = test;
    this.pathwayId = pathwayId;
  }

  static async of(test: TestControl): Promise<Scenarios> {
    return new Scenarios(test, await createPathway(test));
  }

  /** With a name of its own, unless `body` has one. */
  create(body: object = {}): Promise<Answer> {
    this.#number++;
    return this.#test.call('POST', `${base}/scenarios`, {
      body: { pathway_id: this.pathwayId, name: `Scenario ${this.#number}`, ...body },
    });
  }
}

/** Returns the id of a new pathway. */
export async function createPathway(test: TestControl, key = test.key): Promise<string> {
  const answer = await test.call('POST', '/v1/pathway/create', { body: { name: 'Booking' }, key });
  return answer.read(PathwayCreated).pathway_id;
}

/** Of the first error. */
export function details(answer: Answer): unknown {
  return answer.errors[0]?.details;
}

export const nodeReached = (node_id: string) => ({ type: 'NODE_REACHED', config: { node_id } });

/** For tests: sessions over HTTP, and waiting for them by announcements. */

import { sessionSubject } from '../../../control/testing/tornado/sessions.ts';
import type { Json } from '../http/answer.ts';
import type { TestControl } from './harness.ts';
import { TestingClient } from './test-runs.ts';

export class TornadoClient extends TestingClient {
  readonly #test: TestControl;

  constructor(test: TestControl) {
    super(test);
    this.#test = test;
  }

  /** Returns the session's id. */
  async tornado(pathway_id: string, more: object = {}): Promise<string> {
    const answer = await this.call('POST', '/tornado/start', { pathway_id, seed: 1, ...more });
    if (answer.status !== 200) throw new Error(answer.text);
    return String(answer.body.session_id);
  }

  async status(id: string): Promise<Json> {
    return (await this.call('GET', `/tornado/${id}/status`)).body;
  }

  /** The session once it has ended. */
  async endedSession(id: string): Promise<Json> {
    const { announcements } = this.#test.control.services;
    for (;;) {
      const news = Promise.withResolvers<void>();
      const stop = announcements.on(sessionSubject(id), news.resolve);
      const { data } = await this.status(id);
      if (data && String(data.status) !== 'RUNNING') {
        stop();
        return data;
      }
      await news.promise;
      stop();
    }
  }
}

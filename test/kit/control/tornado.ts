/** For tests: sessions over HTTP, and waiting for them by announcements. */
import type { Static } from 'typebox';
import { TornadoAnswer, TornadoStarted, type TornadoStatusView } from '#shared/api/agent-testing/tornado.ts';
import { sessionSubject } from '../../../control/testing/tornado/sessions.ts';
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
    return answer.read(TornadoStarted).session_id;
  }

  async status(id: string): Promise<Static<typeof TornadoAnswer>> {
    return (await this.call('GET', `/tornado/${id}/status`)).read(TornadoAnswer);
  }

  /** The session once it has ended. */
  async endedSession(id: string): Promise<TornadoStatusView> {
    const { announcements } = this.#test.control.services;
    for (;;) {
      const news = Promise.withResolvers<void>();
      const stop = announcements.on(sessionSubject(id), news.resolve);
      const { data } = await this.status(id);
      if (data.status !== 'RUNNING') {
        stop();
        return data;
      }
      await news.promise;
      stop();
    }
  }
}

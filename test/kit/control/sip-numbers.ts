/** A number's SIP configurations over the API, for tests. */
import { type Configuration, NumberConfigurations } from '#shared/api/sip.ts';
import type { Answer, Json } from '../http/answer.ts';
import type { CallOptions, TestControl } from './harness.ts';

export const number = '+14155550100';

export class SipNumbers {
  readonly #test: TestControl;

  constructor(test: TestControl) {
    this.#test = test;
  }

  attach(body: object, options: CallOptions = {}): Promise<Answer> {
    return this.#test.call('POST', '/v1/sip/attach', { body: { phone_number: number, ...body }, ...options });
  }

  async show(of = number, key = this.#test.key): Promise<Json> {
    return (await this.#read(of, key)).body;
  }

  async configurations(): Promise<Configuration[]> {
    return (await this.#read(number, this.#test.key)).read(NumberConfigurations).data.configurations;
  }

  #read(of: string, key: string): Promise<Answer> {
    return this.#test.call('GET', `/v1/sip?phone_number=${encodeURIComponent(of)}`, { key });
  }
}

/** Requests to the API of personas, and of the numbers that they answer. */
import type { Json } from '../http/answer.ts';
import type { CallOptions, TestControl } from './harness.ts';

export const personaNumber = '+14155550100';

/** @param control the running control plane; tests start one each, so it is read at every request */
export function personaRequests(control: () => TestControl) {
  const create = (body: object = { name: 'Ann' }, options: CallOptions = {}) =>
    control().call('POST', '/v1/personas', { body, ...options });
  const createId = async (body?: object) => String((await create(body)).body.data?.id);
  const read = async (id: string): Promise<Json> =>
    (await control().call('GET', `/v1/personas/${id}`)).body.data ?? {};
  const patch = (id: string, body: object) => control().call('PATCH', `/v1/personas/${id}`, { body });
  const promote = (id: string) => control().call('POST', `/v1/personas/${id}/versions/promote`, { body: {} });
  const attach = (id: string, inbound_numbers: unknown, verb = 'attach') =>
    control().call('POST', `/v1/personas/${id}/inbound/${verb}`, { body: { inbound_numbers } });
  const holdNumbers = (...phone_numbers: string[]) =>
    control().call('POST', '/v1/sip/attach', { body: { phone_numbers, directions: ['inbound'] } });
  const createPathway = async () =>
    String((await control().call('POST', '/v1/pathway/create', { body: { name: 'Menu' } })).body.pathway_id);
  const numberOf = async () => (await control().call('GET', '/v1/inbound/14155550100')).body;
  return { create, createId, read, patch, promote, attach, holdNumbers, createPathway, numberOf };
}

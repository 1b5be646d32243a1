/** What the events of organizations tell of port requests (contract 17). */
import type { Happening } from '../events/index.ts';
import type { NumberState } from './state-rules.ts';
import type { PortRequest } from './store.ts';

type Told = Pick<PortRequest, 'id' | 'org_id' | 'status' | 'reason' | 'foc_date' | 'target_port_date'>;

/** @param at ISO */
export function happeningOfPort(request: Told, phone_numbers: readonly NumberState[], at: string): Happening {
  const { foc_date, id, org_id: orgId, reason, status, target_port_date } = request;
  const port = { port_request_id: id, status, reason, phone_numbers, target_port_date, foc_date };
  return { orgId, type: 'port.updated', at, subject: { port_id: id }, data: { port } };
}

/** What the steps of connecting a PBX share: what was found, and the part of the address that keeps it. */
import type { Answer } from '../../api/client.ts';
import { navigate, pathTo, query, withQuery } from '../../router.ts';

export type Discovery = Answer<'GET /v1/sip/discover/status'>['data'];
export type Firewalled = Answer<'GET /v1/sip/firewall-ips'>['data'];

/** What the address keeps of this screen. */
interface Steps {
  readonly discovery: string;
  readonly number: string;
  readonly call: string;
}

export function stepTo(next: Partial<Steps>): void {
  const known = Object.fromEntries(query.peek());
  navigate(withQuery(pathTo('connect'), { ...known, ...next }), { replace: true });
}

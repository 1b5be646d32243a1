/** What this edge keeps over a restart about trunks and registrations. */
import { join } from 'node:path';
import { openRefusalStore, type RefusalStore } from '../signaling/registration/refused-registrations.ts';
import { type FailoverStore, openFailoverStore } from '../trunks/failover-store.ts';
import type { EdgeContext } from './context.ts';

export interface EdgeStores {
  readonly failover: FailoverStore;
  readonly refusals: RefusalStore;
}

/** @throws Error when a file cannot be read; it names the file */
export async function storesOf({ settings, log, metrics }: EdgeContext): Promise<EdgeStores> {
  return {
    failover: await openFailoverStore(join(settings.dataDir, 'failover'), (fault) => {
      log.warn({ fault }, 'the state of trunks could not be stored; it is written with the next change');
      metrics.count('trunkline_edge_failover_unstored_total', { fault });
    }),
    refusals: await openRefusalStore(join(settings.dataDir, 'registrations'), (fault) => {
      log.warn({ fault }, 'a refused registration could not be stored; it is written with the next change');
      metrics.count('trunkline_edge_registrations_unstored_total', { fault });
    }),
  };
}

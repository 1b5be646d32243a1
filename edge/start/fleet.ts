/** This edge's part in the fleet: assignments from control to trunks and registrations. */
import { join } from 'node:path';
import { probeWork, registrationWork } from '#shared/fleet/assignment.ts';
import { FleetView } from '../fleet/fleet-view.ts';
import type { LinkFleet } from '../reporting/link.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { RegistrationFleet } from '../signaling/registration/fleet-registrations.ts';
import type { Signaling } from '../signaling/signaling.ts';
import type { ProbeFleet } from '../trunks/health.ts';
import type { Trunks } from '../trunks/trunks.ts';
import type { EdgeContext } from './context.ts';
import { sipAddress } from './reporting.ts';

interface FleetParts {
  readonly reporting: Reporting;
  /** Functions, because these parts are created later. */
  readonly trunks: () => Trunks;
  readonly signaling: () => Signaling;
}

export interface EdgeFleet extends LinkFleet {
  readonly view: FleetView;
  readonly probes: ProbeFleet;
  readonly registrations: RegistrationFleet;
}

export function fleetOf({ settings, log, metrics }: EdgeContext, parts: FleetParts): EdgeFleet {
  const { reporting, trunks, signaling } = parts;
  const view: FleetView = new FleetView({
    edgeId: reporting.edgeId,
    path: join(settings.dataDir, 'fleet.json'),
    changed: () => {
      log.info({ epoch: view.epoch, members: view.size }, 'the fleet changed');
      trunks().reassigned();
      signaling().reassigned();
    },
    unstored: (fault) => {
      log.warn({ fault }, 'the members of the fleet could not be stored; a restart uses earlier ones');
      metrics.count('trunkline_edge_fleet_unstored_total', { fault });
    },
  });
  metrics.gauge('trunkline_edge_fleet_epoch', () => view.epoch ?? 0);
  metrics.gauge('trunkline_edge_fleet_members', () => view.size);
  return {
    view,
    welcomed: (byFleet) => {
      if (!byFleet) view.leave();
    },
    receive: (frame) => {
      if (frame.type === 'fleet') return view.apply(frame);
      trunks().learned(frame);
      signaling().learned(frame.registrations);
    },
    probes: {
      isOurs: (endpoint) => view.isOurs(probeWork(endpoint)),
      get connected() {
        return reporting.connected;
      },
    },
    registrations: {
      edgeId: reporting.edgeId,
      address: sipAddress(settings),
      isOurs: (orgId, host) => view.isOurs(registrationWork(orgId, host)),
    },
  };
}

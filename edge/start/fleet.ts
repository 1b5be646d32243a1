/** This edge's part in the fleet: assignments from control to trunks and registrations. */
import { join } from 'node:path';
import type { HeldCalls } from '#shared/edge-protocol/fleet.ts';
import { probeWork, registrationWork } from '#shared/fleet/assignment.ts';
import { FleetCounts } from '../fleet/fleet-counts.ts';
import { FleetView } from '../fleet/fleet-view.ts';
import type { LinkFleet } from '../reporting/link.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { RegistrationFleet } from '../signaling/registration/fleet-registrations.ts';
import type { Signaling } from '../signaling/signaling.ts';
import type { ProbeFleet } from '../trunks/health.ts';
import type { Trunks } from '../trunks/trunks.ts';
import { clock, type EdgeContext } from './context.ts';
import { sipAddress } from './reporting.ts';

interface FleetParts {
  readonly reporting: Reporting;
  /** Functions, because these parts are created later. */
  readonly trunks: () => Trunks;
  readonly signaling: () => Signaling;
  /** The calls that this edge counts. */
  readonly held: () => HeldCalls[];
}

export interface EdgeFleet extends LinkFleet {
  readonly counts: FleetCounts;
  readonly view: FleetView;
  readonly probes: ProbeFleet;
  readonly registrations: RegistrationFleet;
}

export function fleetOf({ settings, log, metrics }: EdgeContext, parts: FleetParts): EdgeFleet {
  const { reporting, trunks, signaling, held } = parts;
  let newLink = true;
  const view: FleetView = new FleetView({
    edgeId: reporting.edgeId,
    path: join(settings.dataDir, 'fleet.json'),
    changed: () => {
      log.info({ epoch: view.epoch, members: view.size }, 'the fleet changed');
      trunks().reassigned();
      signaling().reassigned();
      counts.refresh(false);
    },
    unstored: (fault) => {
      log.warn({ fault }, 'the members of the fleet could not be stored; a restart uses earlier ones');
      metrics.count('trunkline_edge_fleet_unstored_total', { fault });
    },
  });
  const counts = new FleetCounts({
    clock,
    edges: () => view.size,
    connected: () => reporting.connected,
    send: (frame) => reporting.tell(frame),
    held,
  });
  metrics.gauge('trunkline_edge_fleet_epoch', () => view.epoch ?? 0);
  metrics.gauge('trunkline_edge_fleet_members', () => view.size);
  return {
    view,
    counts,
    welcomed: (byFleet) => {
      if (!byFleet) view.leave();
      // The fleet's members follow at once, and then what this edge holds.
      newLink = true;
    },
    receive: (frame) => {
      switch (frame.type) {
        case 'call_answer':
          counts.answered(frame);
          break;
        case 'calls_wanted':
          counts.declareAgain();
          break;
        case 'fleet':
          view.apply(frame);
          counts.refresh(newLink);
          newLink = false;
          break;
        case 'learned':
          trunks().learned(frame);
          signaling().learned(frame.registrations);
          break;
      }
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

/** This edge's part in the fleet: assignments from control to trunks and registrations. */
import { join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import type { HeldCalls } from '#shared/edge-protocol/fleet.ts';
import { probeWork, registrationWork } from '#shared/fleet/assignment.ts';
import type { Log } from '../call/log.ts';
import type { EdgeSettings } from '../config.ts';
import { FleetCounts } from '../fleet/fleet-counts.ts';
import { FleetView } from '../fleet/fleet-view.ts';
import type { LinkFleet } from '../reporting/link-options.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { RegistrationFleet } from '../signaling/registration/fleet-registrations.ts';
import type { Signaling } from '../signaling/signaling.ts';
import type { ProbeFleet } from '../trunks/health.ts';
import type { Trunks } from '../trunks/trunks.ts';
import type { EdgeContext } from './context.ts';
import { sipAddress } from './reporting.ts';

interface FleetContext extends Pick<EdgeContext, 'metrics'> {
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly settings: Pick<EdgeSettings, 'dataDir' | 'sip'>;
}

interface FleetParts {
  readonly clock: Clock;
  readonly reporting: Pick<Reporting, 'edgeId' | 'connected' | 'tell'>;
  /** Functions, because these parts are created later. */
  readonly trunks: () => Pick<Trunks, 'learned' | 'reassigned'>;
  readonly signaling: () => Pick<Signaling, 'learned' | 'reassigned'>;
  /** The calls that this edge counts. */
  readonly held: () => HeldCalls[];
}

export interface EdgeFleet extends LinkFleet {
  readonly counts: FleetCounts;
  readonly view: FleetView;
  readonly probes: ProbeFleet;
  readonly registrations: RegistrationFleet;
}

export function fleetOf({ settings, log, metrics }: FleetContext, parts: FleetParts): EdgeFleet {
  const { clock, reporting, trunks, signaling, held } = parts;
  let controlCounts = false;
  const view: FleetView = new FleetView({
    clock,
    edgeId: reporting.edgeId,
    path: join(settings.dataDir, 'fleet.json'),
    changed: (isBack) => {
      log.info({ epoch: view.epoch, members: view.size }, 'the fleet changed');
      trunks().reassigned();
      signaling().reassigned(isBack);
      counts.refresh();
    },
    unstored: (fault) => {
      log.warn({ fault }, 'the members of the fleet could not be stored; a restart uses earlier ones');
      metrics.count('trunkline_edge_fleet_unstored_total', { fault });
    },
  });
  const counts = new FleetCounts({
    clock,
    edges: () => view.size,
    connected: () => reporting.connected && controlCounts,
    send: (frame) => reporting.tell(frame),
    held,
  });
  metrics.gauge('trunkline_edge_fleet_epoch', () => view.epoch ?? 0);
  metrics.gauge('trunkline_edge_fleet_members', () => view.size);
  return {
    view,
    counts,
    welcomed: (control) => {
      controlCounts = control.countsCalls;
      if (!control.fleet) view.leave();
      counts.welcomed();
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
          counts.refresh();
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

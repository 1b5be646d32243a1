/** What refers to an organization's set-up and is deleted with it: registered here with the catalogue. */
import { withdrawAlerts } from './alerts/index.ts';
import { callsUsingVersion, closeCallsOfEdge } from './calls/index.ts';
import type { Catalogue } from './catalogue/index.ts';
import type { Announcements } from './edge-link/index.ts';
import { personasUsingPathway, personasUsingVersion } from './personas/index.ts';
import {
  announceEnds,
  batchesOfVersion,
  dropScenarios,
  runsOfVersion,
  sessionsOfVersion,
  setsOfVersion,
} from './testing/index.ts';
import { webhookSubject } from './webhooks/index.ts';
import { widgetsUsingPathway, widgetsUsingPersona, widgetsUsingVersion } from './widgets/index.ts';

/** What is kept about an edge; for command lines, too, where nobody waits for announcements. */
export function linkEdges(catalogue: Catalogue, announcements?: Announcements): void {
  catalogue.onRemoval('edge', async (db, id, now, altered) => {
    const webhooksQueued = await closeCallsOfEdge(db, id, now);
    if (webhooksQueued) altered.afterCommit(() => announcements?.announce(webhookSubject));
  });
}

export function linkCatalogue(catalogue: Catalogue, announcements: Announcements): void {
  catalogue.usedBy('pathway', 'widget_ids', widgetsUsingPathway);
  catalogue.usedBy('pathway', 'persona_ids', personasUsingPathway);
  catalogue.usedBy('persona', 'widget_ids', widgetsUsingPersona);
  catalogue.versionUsedBy('widget_ids', widgetsUsingVersion);
  catalogue.versionUsedBy('persona_ids', personasUsingVersion);
  catalogue.versionUsedBy('call_ids', callsUsingVersion);
  catalogue.versionUsedBy('run_ids', runsOfVersion);
  catalogue.versionUsedBy('batch_ids', batchesOfVersion);
  catalogue.versionUsedBy('simulation_set_ids', setsOfVersion);
  catalogue.versionUsedBy('tornado_session_ids', sessionsOfVersion);
  for (const kind of ['pathway', 'persona'] as const) {
    catalogue.onRemoval(kind, async (db, id, now, altered) => {
      const cancelled = await dropScenarios(db, { kind, id }, now);
      altered.afterCommit(() => announceEnds(announcements, cancelled));
    });
  }
  linkEdges(catalogue, announcements);
  catalogue.onRemoval('trunk_alerts', (db, id, now) => withdrawAlerts(db, now, id));
}

/** What refers to what organizations set up, and what is dropped with it: areas above tell the catalogue. */
import { withdrawAlerts } from './alerts/index.ts';
import type { Catalogue } from './catalogue/index.ts';
import type { Announcements } from './edge-link/index.ts';
import { personasUsingPathway } from './personas/index.ts';
import { announceEnds, dropScenarios } from './testing/index.ts';
import { widgetsUsingPathway, widgetsUsingPersona } from './widgets/index.ts';

export function linkCatalogue(catalogue: Catalogue, announcements: Announcements): void {
  catalogue.usedBy('pathway', 'widget_ids', widgetsUsingPathway);
  catalogue.usedBy('pathway', 'persona_ids', personasUsingPathway);
  catalogue.usedBy('persona', 'widget_ids', widgetsUsingPersona);
  for (const kind of ['pathway', 'persona'] as const) {
    catalogue.onRemoval(kind, async (db, id, now, altered) => {
      const cancelled = await dropScenarios(db, { kind, id }, now);
      altered.afterCommit(() => announceEnds(announcements, cancelled));
    });
  }
  catalogue.onRemoval('trunk_alerts', (db, id, now) => withdrawAlerts(db, now, id));
}

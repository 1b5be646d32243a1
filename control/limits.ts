/** The limits of the control plane that are no settings; tests hand in others (`AppOptions.limits`). */
import type { LimitOverrides } from '#shared/limits.ts';
import { modelLimits } from '#shared/models/limits.ts';
import { alertLimits } from './alerts/index.ts';
import { callLimits } from './calls/index.ts';
import { databaseLimits } from './db/index.ts';
import { edgeLinkLimits } from './edge-link/index.ts';
import { eventLimits } from './events/index.ts';
import { portingLimits } from './porting/index.ts';
import { replicaLimits } from './replicas/index.ts';
import { testingLimits } from './testing/index.ts';
import { toolLimits } from './tools/index.ts';
import { webhookLimits } from './webhooks/index.ts';
import { widgetLimits } from './widgets/index.ts';

export const controlLimits = {
  alerts: alertLimits,
  calls: callLimits,
  db: databaseLimits,
  edgeLink: edgeLinkLimits,
  events: eventLimits,
  models: modelLimits,
  porting: portingLimits,
  replicas: replicaLimits,
  testing: testingLimits,
  tools: toolLimits,
  webhooks: webhookLimits,
  widgets: widgetLimits,
};

export type ControlLimits = LimitOverrides<typeof controlLimits>;

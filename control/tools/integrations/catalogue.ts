/** Every integration of contract 8.3. A new one is one more line. */
import { chatApp } from './chat-app.ts';
import { crmA } from './crm-a.ts';
import { crmB } from './crm-b.ts';
import { customCode } from './custom-code.ts';
import type { Action, Integration } from './integration.ts';
import { notesApp } from './notes-app.ts';
import { restApi } from './rest-api.ts';
import { schedulingA } from './scheduling-a.ts';
import { schedulingB } from './scheduling-b.ts';
import { serviceSms } from './service-sms.ts';

const all: readonly Integration[] = [
  serviceSms,
  customCode,
  chatApp,
  crmA,
  restApi,
  crmB,
  schedulingA,
  schedulingB,
  notesApp,
];

export const integrationKeys: readonly string[] = all.map((integration) => integration.key);

export function findIntegration(key: string): Integration | undefined {
  return all.find((integration) => integration.key === key);
}

export function findAction(integration: Integration, key: string): Action | undefined {
  return integration.actions.find((action) => action.key === key);
}

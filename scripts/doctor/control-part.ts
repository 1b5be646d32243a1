/** The checks that need the code of control, which a machine with an edge alone does not have. */
import { readControlConfig } from '../../control/settings/index.ts';
import { controlPortChecks } from './control-port.ts';
import { databaseChecks } from './database.ts';
import { healthChecks } from './health.ts';
import type { ControlPart } from './parts.ts';
import { controlSettingChecks } from './settings.ts';

export const part: ControlPart = {
  readSettings: readControlConfig,
  checks: [...controlSettingChecks, ...databaseChecks, ...controlPortChecks, ...healthChecks],
};

/** All checks, in the order in which they are shown. */
import type { Check } from './check.ts';
import { machineChecks } from './machine.ts';
import type { Parts } from './parts.ts';
import { serverChecks } from './servers.ts';
import { folderChecks } from './settings.ts';
import { trunkChecks } from './trunks.ts';

export function checksOf({ edge, control }: Parts): readonly Check[] {
  return [
    ...folderChecks,
    ...machineChecks,
    ...serverChecks,
    ...(control?.checks ?? []),
    ...(edge?.checks ?? []),
    ...trunkChecks,
  ];
}

/** The checks that need the code of the edge, which a machine with control alone does not have. */
import { readSettings } from '../../edge/config.ts';
import { DnsClient } from '../../edge/trunks/dns-client.ts';
import { certificateChecks } from './certificates.ts';
import { linkChecks } from './control-link.ts';
import { voiceChecks } from './embedded-voice.ts';
import { engineChecks } from './engine.ts';
import { kernelChecks } from './kernel.ts';
import { addressChecks } from './media-address.ts';
import { workerChecks } from './media-worker.ts';
import { nameChecks } from './names.ts';
import type { EdgePart } from './parts.ts';
import { portChecks } from './ports.ts';
import { edgeSettingChecks } from './settings.ts';

export const part: EdgePart = {
  readSettings,
  dns: new DnsClient({ servers: [], timeoutMs: 2000, tries: 2 }),
  checks: [
    ...edgeSettingChecks,
    ...kernelChecks,
    ...certificateChecks,
    ...nameChecks,
    ...addressChecks,
    ...portChecks,
    ...engineChecks,
    ...workerChecks,
    ...voiceChecks,
    ...linkChecks,
  ],
};

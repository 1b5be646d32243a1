/** The link to control, with the facts about this edge. */
import type { EdgeSettings } from '../config.ts';
import { localAddress } from '../local-address.ts';
import { Reporting } from '../reporting/reporting.ts';
import type { ReportingOptions } from '../reporting/reporting-options.ts';
import { clock, type EdgeContext } from './context.ts';

/** Where this edge takes calls. */
export function sipAddress({ sip }: Pick<EdgeSettings, 'sip'>): { host: string; port: number } {
  return { host: sip.publicHost ?? localAddress(sip.host), port: sip.port };
}

/** @param codecs whose libraries are present */
export function reportingOf(
  { settings, log, software, controlUrl, edgeToken, publicIp, current, keys }: EdgeContext,
  codecs: readonly string[],
  events: Pick<ReportingOptions, 'onConfig' | 'onCommand' | 'metrics' | 'fleet'>,
): Promise<Reporting> {
  const { rtp } = settings;
  const { wssPort } = settings.sip;
  return Reporting.open({
    dataDir: settings.dataDir,
    secretKey: settings.secretKey,
    clock,
    controlUrl,
    edgeToken,
    hep: { ...settings.hep, foreign: settings.drachtio !== null },
    facts: {
      software,
      // A port that the system chooses is nobody's to call.
      sip: { ...sipAddress(settings), ...(wssPort !== null && wssPort > 0 && { wss_port: wssPort }) },
      rtp: { ip: publicIp, port_min: rtp.portMin, port_max: rtp.portMax },
      codecs: [...codecs],
    },
    log: (level, message, facts) => log[level](facts ?? {}, message),
    secrets: ({ id, trunk_id: trunkId, ended_at: endedAt }) => {
      const password = trunkId === null ? undefined : current.password(trunkId);
      const known = [...keys.of(id), ...(password === undefined ? [] : [password])];
      if (endedAt !== null) keys.forget(id);
      return known;
    },
    ...events,
  });
}

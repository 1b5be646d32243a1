/** Limits of the kernel that the edge meets. */
import type { EdgeSettings } from '../../edge/config.ts';
import { datagramBuffer } from '../../edge/reporting/hep-listener.ts';
import { type Check, type Finding, ok, skipped, warning } from './check.ts';
import { kernelNumber, kernelText, type Place } from './place.ts';
import { ownersOf, tcpListeners } from './sockets.ts';
import { ofEdge } from './with-settings.ts';

/** Descriptors besides those of connections: files, pipes, libraries. */
const otherDescriptors = 1000;
/** Of a call: two legs of one port pair each in the media worker, and its files. */
const descriptorsPerCall = 4;

/** The limit of the running engine, else that of this process. */
function descriptors({ maxConnections, maxCalls, sip }: EdgeSettings, place: Place): Finding {
  const needed = Math.max(maxConnections, descriptorsPerCall * maxCalls) + otherDescriptors;
  const listeners = tcpListeners(place).filter(({ port }) => port === sip.port);
  const [engine] = ownersOf(place, listeners).values();
  const limits = kernelText(place, engine ? `${engine.pid}/limits` : 'self/limits');
  // Node raises the soft limit to the hard one.
  const [, hard] = /^Max open files\s+\S+\s+(\S+)/m.exec(limits ?? '') ?? [];
  if (hard === undefined) return skipped('the kernel does not tell the limit');
  const whose = engine ? 'of the running edge' : 'of this shell; that of the service may differ';
  const enough = hard === 'unlimited' || Number(hard) >= needed;
  const found = `${hard} open files at most (${whose}); ${needed} are needed for SIP_MAX_CONNECTIONS ${maxConnections} and MAX_CALLS ${maxCalls}`;
  if (enough) return ok(found);
  return warning(found, `set LimitNOFILE=65536 in the unit of the edge, or ulimits.nofile of its container`);
}

function buffers({ drachtio }: EdgeSettings, place: Place): Finding {
  const receive = kernelNumber(place, 'sys/net/core/rmem_max');
  const send = kernelNumber(place, 'sys/net/core/wmem_max');
  if (receive === null || send === null)
    return skipped('net.core.rmem_max cannot be read here, as in a container with its own network');
  const found = `net.core.rmem_max ${receive}, net.core.wmem_max ${send}`;
  if (!drachtio) return ok(`${found}; each call has its own port, for which the kernel's defaults suffice`);
  if (receive >= datagramBuffer) return ok(found);
  return warning(
    `${found}; copies of SIP messages from the drachtio-server come over one UDP port, which asks for ${datagramBuffer}`,
    `sysctl -w net.core.rmem_max=${datagramBuffer}, and the same in /etc/sysctl.d`,
  );
}

function ephemeral({ rtp }: EdgeSettings, place: Place): Finding {
  const range = /^(\d+)\s+(\d+)$/.exec(kernelText(place, 'sys/net/ipv4/ip_local_port_range') ?? '');
  if (!range) return skipped('net.ipv4.ip_local_port_range cannot be read here');
  const [from, to] = [Number(range[1]), Number(range[2])];
  const first = Math.max(from, rtp.portMin);
  const last = Math.min(to, rtp.portMax);
  const found = `outgoing connections use ${from} to ${to}, media ${rtp.portMin} to ${rtp.portMax}`;
  const reserved = rangesIn(kernelText(place, 'sys/net/ipv4/ip_local_reserved_ports') ?? '');
  const covered = reserved.some(([begin, end]) => begin <= first && last <= end);
  if (first > last || covered) return ok(found);
  return warning(
    `${found}: other programs may take ports of media`,
    `sysctl -w net.ipv4.ip_local_reserved_ports=${rtp.portMin}-${rtp.portMax}, and the same in /etc/sysctl.d; or set RTP_PORT_MIN and RTP_PORT_MAX to other ports`,
  );
}

function rangesIn(text: string): [number, number][] {
  return text.split(',').map((part) => {
    const [from = '', to = from] = part.split('-');
    return [Number(from || Number.NaN), Number(to || Number.NaN)];
  });
}

export const kernelChecks: readonly Check[] = [
  {
    name: 'kernel.descriptors',
    program: 'edge',
    about:
      'Open files that the running edge may have, else this shell, for `SIP_MAX_CONNECTIONS` and `MAX_CALLS`.',
    bad: 'They are fewer.',
    run: ofEdge(descriptors),
  },
  {
    name: 'kernel.buffers',
    program: 'edge',
    about: '`net.core.rmem_max` and `wmem_max`.',
    bad: 'With a drachtio-server: less than the port for copies of SIP messages asks for.',
    run: ofEdge(buffers),
  },
  {
    name: 'kernel.port_range',
    program: 'edge',
    about: 'The ports of media are not among those that the kernel gives to outgoing connections.',
    bad: 'They overlap, and `ip_local_reserved_ports` does not keep them free.',
    run: ofEdge(ephemeral),
  },
];

/** Ports of the edge: who listens on them, how many there are, and whether the firewall lets peers in. */
import { availableParallelism } from 'node:os';
import type { EdgeSettings } from '../../edge/config.ts';
import { portRanges } from '../../edge/shards/port-ranges.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import { closedPorts } from './firewall.ts';
import type { Place } from './place.ts';
import { ownersOf, programIn, udpSockets } from './sockets.ts';
import { ours, tcpPort } from './tcp-port.ts';
import { ofEdge } from './with-settings.ts';

const sipPort = ofEdge(({ sip, drachtio }, place) =>
  drachtio
    ? skipped('the drachtio-server has its own ports')
    : tcpPort(place, { setting: 'SIP_TLS_PORT', port: sip.port, owner: ours.sip, program: 'engine' }),
);

const wssPort = ofEdge(({ sip, drachtio }, place) =>
  drachtio || sip.wssPort === null || sip.wssPort === 0
    ? skipped('SIP_WSS_PORT is not set')
    : tcpPort(place, { setting: 'SIP_WSS_PORT', port: sip.wssPort, owner: ours.sip, program: 'engine' }),
);

function rtpPorts({ rtp, maxCalls, media }: EdgeSettings, place: Place): Finding {
  const shards = media.shards ?? Math.max(1, Math.floor(availableParallelism() / 2));
  const ranges = portRanges(rtp, shards).shards;
  const pairs = ranges.reduce(
    (sum, { portMin, portMax }) => sum + Math.floor((portMax - portMin + 1) / 2),
    0,
  );
  const foreign = foreignSockets(place, rtp);
  const range = `${rtp.portMin} to ${rtp.portMax}: ${pairs} pairs for MAX_CALLS ${maxCalls}`;
  if (pairs < maxCalls) {
    return failed(
      `${range}; each call needs one, a call that is connected with another two`,
      `set RTP_PORT_MIN and RTP_PORT_MAX to ${4 * maxCalls} ports or more, or MAX_CALLS to at most ${pairs}`,
    );
  }
  if (foreign.length > 0) {
    return warning(
      `${range}; in use by others: ${foreign.join(', ')}`,
      'move the other program out of the range, or set RTP_PORT_MIN and RTP_PORT_MAX to a free one',
    );
  }
  return ok(range);
}

/** UDP ports of the range that a known process of another program has, at most five. */
function foreignSockets(place: Place, { portMin, portMax }: EdgeSettings['rtp']): string[] {
  const within = udpSockets(place).filter(({ port }) => port >= portMin && port <= portMax);
  const owners = ownersOf(place, within);
  return within
    .flatMap(({ port, inode }) => {
      const owner = owners.get(inode);
      return owner && !ours.media.test(owner.command) ? [`${port} (${programIn(owner.command)})`] : [];
    })
    .slice(0, 5);
}

async function firewall({ sip, rtp, drachtio }: EdgeSettings, { runTool }: Place): Promise<Finding> {
  const rules = await runTool('nft', ['-j', 'list', 'ruleset']);
  if ('reason' in rules) {
    return skipped(
      `the rules cannot be read (${rules.reason}); peers must reach TCP ${sip.port} and UDP ${rtp.portMin} to ${rtp.portMax}`,
    );
  }
  const wanted = [
    ...(drachtio ? [] : [{ protocol: 'tcp', from: sip.port, to: sip.port }]),
    { protocol: 'udp', from: rtp.portMin, to: rtp.portMax },
  ];
  const closed = closedPorts(rules.output, wanted);
  if (closed === null)
    return ok(
      'no chain of nftables drops what comes in; a firewall in front of this machine is not seen from here',
    );
  if (closed.length === 0)
    return ok('rules of nftables name the ports; a firewall in front of this machine is not seen from here');
  const shown = closed.map(({ protocol, from, to }) => `${protocol} ${from === to ? from : `${from}-${to}`}`);
  return warning(
    `nftables drops what comes in by default, and no accepting rule names ${shown.join(' and ')}`,
    `accept these ports from the addresses of your peers, such as: nft add rule inet filter input ${closed[0]?.protocol} dport ${closed[0]?.from}-${closed[0]?.to} accept; or see that a rule for their addresses does`,
  );
}

export const portChecks: readonly Check[] = [
  {
    name: 'ports.sip',
    program: 'edge',
    about: 'Who listens on `SIP_TLS_PORT`.',
    bad: 'Another program does (failed); nobody does, and the port needs a privilege (warning).',
    run: sipPort,
  },
  {
    name: 'ports.wss',
    program: 'edge',
    about: 'The same for `SIP_WSS_PORT`.',
    bad: 'As before.',
    run: wssPort,
  },
  {
    name: 'ports.rtp',
    program: 'edge',
    about:
      'The range for media: pairs of ports for calls against `MAX_CALLS`, and UDP ports of others in it.',
    bad: 'There are fewer pairs than calls (failed); another program has ports of the range (warning).',
    run: ofEdge(rtpPorts),
  },
  {
    name: 'ports.firewall',
    program: 'edge',
    about: 'Rules of nftables on this machine; needs root and the program `nft`.',
    bad: 'A chain drops by default, and no accepting rule names the ports.',
    run: ofEdge(firewall),
  },
];

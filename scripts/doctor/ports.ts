/** Ports of the edge: who listens on them, how many there are, and whether the firewall lets peers in. */
import { availableParallelism } from 'node:os';
import type { EdgeSettings } from '../../edge/config.ts';
import { portRanges } from '../../edge/shards/port-ranges.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import { closedPorts, commandFor, type Firewall, iptablesRules, nftablesRules } from './firewall.ts';
import { kernelText, type Place } from './place.ts';
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

const notSeen = 'a firewall in front of this machine is not seen from here';

async function firewall({ sip, rtp, drachtio }: EdgeSettings, place: Place): Promise<Finding> {
  const { seen, unseen } = await firewallsOf(place);
  const needed = `peers must reach TCP ${sip.port} and UDP ${rtp.portMin} to ${rtp.portMax}`;
  const wanted = [
    ...(drachtio ? [] : [{ protocol: 'tcp', from: sip.port, to: sip.port }]),
    { protocol: 'udp', from: rtp.portMin, to: rtp.portMax },
  ];
  for (const one of seen) {
    const closed = closedPorts(one, wanted);
    if (closed === null) unseen.push(`rules of ${one.kind} about sets or maps`);
    if (!closed?.length) continue;
    const shown = closed.map(
      ({ protocol, from, to }) => `${protocol} ${from === to ? from : `${from}-${to}`}`,
    );
    return warning(
      `${one.kind} drops what comes in by default, and no accepting rule names ${shown.join(' and ')}`,
      `accept these ports from the addresses of your peers, such as: ${closed.map((ports) => commandFor(one.kind, ports)).join('; ')}; or see that a rule for their addresses does`,
    );
  }
  if (unseen.length > 0) return skipped(`the rules cannot be read (${unseen.join('; ')}); ${needed}`);
  const dropping = seen.filter(({ drops }) => drops);
  if (dropping.length === 0) return ok(`no firewall here drops what comes in; ${notSeen}`);
  return ok(`rules of ${dropping.map(({ kind }) => kind).join(' and ')} name the ports; ${notSeen}`);
}

/** The rules in the kernel, of whatever wrote them; and what cannot be read, with the reason. */
async function firewallsOf(place: Place): Promise<{ seen: Firewall[]; unseen: string[] }> {
  const seen: Firewall[] = [];
  const unseen: string[] = [];
  const nft = await place.runTool('nft', ['-j', 'list', 'ruleset']);
  if ('reason' in nft) unseen.push(nft.reason);
  else seen.push(await withModules(nftablesRules(nft.output), place));
  // Rules of the earlier kind, which nft does not show.
  if (kernelText(place, 'net/ip_tables_names')?.split('\n').includes('filter')) {
    const legacy = await place.runTool('iptables-legacy', ['-S']);
    if ('reason' in legacy) unseen.push(legacy.reason);
    else seen.push(iptablesRules(legacy.output));
  }
  return { seen, unseen };
}

/** With what nft cannot read of rules that iptables wrote, as ufw does for ranges. */
async function withModules(rules: Firewall, { runTool }: Place): Promise<Firewall> {
  if (!rules.drops || rules.unread.iptables === 0) return rules;
  const own = await runTool('iptables-nft', ['-S']);
  if ('reason' in own) return rules;
  const { open, unread } = iptablesRules(own.output);
  return {
    ...rules,
    open: [...rules.open, ...open],
    unread: { ...rules.unread, iptables: unread.iptables },
  };
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
    about:
      'The rules on this machine for IPv4, whatever wrote them (nftables, iptables, ufw, firewalld); needs root and the program `nft`, for rules of iptables also `iptables-nft` or `iptables-legacy`. Whether a rule accepts all of your peers, or an earlier one drops them, it does not see.',
    bad: 'What no rule accepts is dropped, and no accepting rule names the ports.',
    run: ofEdge(firewall),
  },
];

/** Who listens on a port of ours. */
import { type Finding, failed, ok, warning } from './check.ts';
import { kernelNumber, type Place } from './place.ts';
import { ownersOf, programIn, tcpListeners } from './sockets.ts';

/** A port below this needs a privilege, where the kernel does not tell otherwise. */
const privileged = 1024;

/** Programs that may have these ports. */
export const ours = {
  sip: /\bengine\/main\.ts\b/,
  control: /\bcontrol(?:\/main|-entry)\.ts\b/,
  media: /\bmediasoup-worker\b/,
};

interface Port {
  readonly setting: string;
  readonly port: number;
  readonly owner: RegExp;
  readonly program: string;
}

export function tcpPort(place: Place, { setting, port, owner, program }: Port): Finding {
  const listeners = tcpListeners(place).filter((socket) => socket.port === port);
  if (listeners.length === 0) {
    const least = kernelNumber(place, 'sys/net/ipv4/ip_unprivileged_port_start') ?? privileged;
    if (port >= least) return ok(`${port} is free: the ${program} does not run`);
    return warning(
      `${port} is free, but only a privileged user may listen below ${least}`,
      `set ${setting} to a higher port, or give the service AmbientCapabilities=CAP_NET_BIND_SERVICE`,
    );
  }
  const [first] = ownersOf(place, listeners).values();
  if (!first) return ok(`${port} is in use by a process of another user; as root the doctor tells which`);
  if (owner.test(first.command)) return ok(`the ${program} listens on ${port} (process ${first.pid})`);
  return failed(
    `${port} is in use by process ${first.pid}: ${programIn(first.command)}`,
    `stop that program, or set ${setting} to another port`,
  );
}

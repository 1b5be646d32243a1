/** REGISTER and the OPTIONS that keeps its connection alive, as data (RFC 3261 section 10.2). Pure. */
import type { DialTarget } from '../../call/ports/dialing.ts';
import { capabilities, type Environment } from '../srf/environment.ts';
import { hostPart, sipUri, userPart } from '../srf/numbers.ts';
import type { NewRequest } from '../srf/srf.ts';

/** Where and as whom to register. */
export interface Registrar {
  /** Name or address as configured: the domain of the address-of-record. */
  readonly host: string;
  readonly port: number;
  /** Contact user and authorization user. */
  readonly username: string;
  readonly password: string;
  /** Binding interval to request, seconds. */
  readonly expiresS: number;
}

/** The parts of a binding's request that vary. */
export interface RegisterTry {
  readonly callId: string;
  readonly fromTag: string;
  readonly cseq: number;
  /** Seconds; 0 removes the binding (section 10.2.2). */
  readonly expiresS: number;
  /** Authorization headers. */
  readonly authorization: Readonly<Record<string, string>>;
}

/** `host:port`, IPv6 in brackets, for messages. */
export function registrarHostPort({ host, port }: Pick<Registrar, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

type Us = Pick<Environment, 'publicAddress' | 'software'>;

/** Request-URI of a REGISTER: the registrar's domain, without user (section 10.2). */
export function registrarUri({ host }: Registrar): string {
  return `sip:${hostPart(host)}`;
}

function addressOfRecord({ username, host }: Registrar): string {
  return `sip:${userPart(username)}@${hostPart(host)}`;
}

function common(us: Us, registrar: Registrar, callId: string, fromTag: string): Record<string, string> {
  const aor = addressOfRecord(registrar);
  return {
    'Call-ID': callId,
    From: `<${aor}>;tag=${fromTag}`,
    To: `<${aor}>`,
    // The engine replaces "localhost" with its own address.
    Contact: `<sip:${userPart(registrar.username)}@${us.publicAddress ?? 'localhost'};transport=tls>`,
    'User-Agent': us.software,
    ...capabilities(),
  };
}

/** The target to connect to. A drachtio-server would use UDP for a Request-URI without a transport parameter. */
function nextHop({ address, serverName, port }: DialTarget): string {
  return sipUri('', address ?? serverName, port);
}

export function registerOf(
  us: Us,
  registrar: Registrar,
  target: DialTarget,
  { callId, fromTag, cseq, expiresS, authorization }: RegisterTry,
): NewRequest {
  return {
    method: 'REGISTER',
    uri: registrarUri(registrar),
    proxy: nextHop(target),
    headers: {
      ...common(us, registrar, callId, fromTag),
      CSeq: `${cseq} REGISTER`,
      Expires: String(expiresS),
      ...authorization,
    },
  };
}

/** Takes the path of the REGISTER; any answer will do. */
export function keepaliveOf(
  us: Us,
  registrar: Registrar,
  target: DialTarget,
  callId: string,
  fromTag: string,
): NewRequest {
  return {
    method: 'OPTIONS',
    uri: registrarUri(registrar),
    proxy: nextHop(target),
    headers: common(us, registrar, callId, fromTag),
  };
}

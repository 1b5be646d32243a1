/** Whether the edge reaches its control plane. */
import WebSocket from 'ws';
import { ownCommand } from '#shared/own-command.ts';
import { controlAddress, type EdgeSettings } from '../../edge/config.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import { answerMs, get } from './http.ts';
import { awaitsFirstStart, type Place } from './place.ts';
import { reasonOf } from './reason.ts';
import { ofEdge } from './with-settings.ts';

/** HTTP's Date has whole seconds; certificates and tokens allow more. */
const smallOffsetMs = 5000;
const largeOffsetMs = 60_000;

const reach =
  'start control, or correct CONTROL_URL; between machines it needs a URL that this one reaches, and CONTROL_HOST must not be 127.0.0.1 there';

async function address(settings: EdgeSettings): Promise<Finding | { url: string; token: string }> {
  try {
    const { controlUrl, edgeToken } = await controlAddress(settings, 0);
    return { url: controlUrl, token: edgeToken };
  } catch (error) {
    return skipped(reasonOf(error));
  }
}

async function reachable(settings: EdgeSettings, place: Place): Promise<Finding> {
  const to = await address(settings);
  if ('state' in to && awaitsFirstStart(place, settings.dataDir))
    return skipped('the first start of control on this machine makes the token');
  if ('state' in to)
    return failed(to.found, 'set CONTROL_URL and EDGE_TOKEN, or start control on this machine first');
  try {
    const { status } = await get(`${to.url}/health/live`);
    if (status === 200) return ok(`${to.url} answers`);
    return failed(`${to.url}/health/live answers ${status}: no Trunkline, or a proxy in front of it`, reach);
  } catch (error) {
    return failed(`${to.url} cannot be reached: ${reasonOf(error)}`, reach);
  }
}

/** Connects as an edge does, and leaves before it would say who it is. */
async function token(settings: EdgeSettings): Promise<Finding> {
  const to = await address(settings);
  if ('state' in to) return to;
  const url = new URL('/v1/edge/link', to.url);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${to.token}` },
    handshakeTimeout: answerMs,
    followRedirects: false,
  });
  return new Promise<Finding>((resolve) => {
    socket.on('open', () => {
      resolve(ok('control accepts the token and upgrades to a WebSocket'));
      socket.close(1000);
    });
    socket.on('unexpected-response', (_request, { statusCode }) => {
      resolve(
        statusCode === 401
          ? failed(
              'control does not accept EDGE_TOKEN',
              `make one: ${ownCommand('admin')} key create --edge; and set EDGE_TOKEN to it`,
            )
          : failed(
              `control answers ${statusCode} to the edge link`,
              'let the proxy in front of control pass WebSocket upgrades of /v1/edge/link',
            ),
      );
      socket.terminate();
    });
    socket.on('error', (error) => resolve(skipped(`control cannot be reached: ${reasonOf(error)}`)));
  });
}

async function offset(settings: EdgeSettings, { now }: Place): Promise<Finding> {
  const to = await address(settings);
  if ('state' in to) return to;
  const sent = now();
  const response = await get(`${to.url}/health/live`).catch(() => null);
  const date = Date.parse(response?.headers.get('date') ?? '');
  if (Number.isNaN(date)) return skipped('control does not answer with a Date');
  // Date is cut to the second.
  const offsetMs = Math.round((sent + now()) / 2 - (date + 500));
  const found = `this clock is ${(Math.abs(offsetMs) / 1000).toFixed(1)} s ${offsetMs < 0 ? 'behind' : 'ahead of'} that of control`;
  const advice = 'run a time service on both machines (chrony, systemd-timesyncd)';
  if (Math.abs(offsetMs) >= largeOffsetMs) return failed(found, advice);
  return Math.abs(offsetMs) >= smallOffsetMs ? warning(found, advice) : ok(found);
}

export const linkChecks: readonly Check[] = [
  {
    name: 'control.reachable',
    program: 'edge',
    about: 'The control plane answers at `CONTROL_URL`, or where bootstrap.json says.',
    bad: 'It does not, or something else does.',
    run: ofEdge(reachable),
  },
  {
    name: 'control.token',
    program: 'edge',
    about:
      'Control accepts the token of this edge. The doctor connects like an edge, and leaves before it would say which.',
    bad: 'The token is refused, or a proxy passes no WebSocket.',
    run: ofEdge(token),
  },
  {
    name: 'clock.offset',
    program: 'edge',
    about: 'The difference to the clock of control, by the Date of its answers.',
    bad: '5 s or more (warning); a minute or more (failed).',
    run: ofEdge(offset),
  },
];

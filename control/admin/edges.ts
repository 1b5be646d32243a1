/** Commands for edges and SIP proxies. */
import { Value } from 'typebox/value';
import { type EdgePatch, EdgeWeight, RegionName } from '#shared/api/edges.ts';
import { ApiError } from '#shared/errors.ts';
import { commandLineActor } from '../audit/index.ts';
import { changeEdge, listEdges, listProxies, removeEdge, setProxies } from '../edges/index.ts';
import { type Command, required, type Tools, UsageError } from './command.ts';

/** Shown at most; the API has pages. */
const shownEdges = 1000;

export const edgeCommands: Readonly<Record<string, Command>> = {
  'edge list': {
    takes: '',
    help: 'edges that ever connected; GET /v1/admin/edges shows their calls, too',
    options: [],
    run: async ({ database: { db } }) => {
      const rows = await listEdges(db, { limit: shownEdges, offset: 0 });
      return rows.map(
        ({ id, software, sip_host, sip_port, region, weight, draining_since, last_seen_at }) => ({
          id,
          software,
          sip: `${sip_host}:${sip_port}`,
          region: region ?? 'all',
          weight,
          draining_since: draining_since ?? '',
          last_seen_at,
        }),
      );
    },
  },
  'edge drain': {
    takes: '<edge id>',
    help: 'take an edge out of service: it rejects new calls and keeps those that it has, until "edge undrain"',
    options: [],
    run: (tools, id) => change(tools, id, { draining: true }, 'draining'),
  },
  'edge undrain': {
    takes: '<edge id>',
    help: 'take it back into service',
    options: [],
    run: (tools, id) => change(tools, id, { draining: false }, 'in service'),
  },
  'edge weight': {
    takes: '<edge id>',
    help: 'its share of the outbound calls\n--weight <0 to 1000>, 100 without it; 0: only when no other edge takes calls',
    options: ['weight'],
    run: (tools, id, { weight = '100' }) =>
      change(tools, id, { weight: checkedWeight(weight) }, 'weight set'),
  },
  'edge region': {
    takes: '<edge id>',
    help: 'the region that it serves\n--region <name>; without it, the edge serves every region',
    options: ['region'],
    run: (tools, id, { region }) =>
      change(tools, id, { region: region === undefined ? null : checkedRegion(region) }, 'region set'),
  },
  'edge remove': {
    takes: '<edge id>',
    help: 'remove an edge that is gone for good, 30 s after it was disconnected; its running calls are closed',
    options: [],
    removes: true,
    run: (tools, id) => remove(tools, required(id, 'edge id')),
  },
  'proxy list': {
    takes: '',
    help: 'SIP proxies that edges trust to name the source of a request',
    options: [],
    run: async ({ database: { db } }) => (await listProxies(db)).map((address) => ({ address })),
  },
  'proxy add': {
    takes: '<address>',
    help: 'trust a SIP proxy (docs/fleet.md): its host must run nothing else',
    options: [],
    run: (tools, address) => changeProxies(tools, address, (known, one) => [...known, one]),
  },
  'proxy remove': {
    takes: '<address>',
    help: 'trust it no more',
    options: [],
    run: (tools, address) =>
      changeProxies(tools, address, (known, one) => known.filter((each) => each !== one)),
  },
};

const parts = async (tools: Tools) => ({ ...tools, catalogue: await tools.catalogue() });

async function change(tools: Tools, id: string | undefined, patch: EdgePatch, done: string): Promise<string> {
  const row = await changeEdge(await parts(tools), required(id, 'edge id'), patch, commandLineActor);
  if (!row) throw noSuchEdge(id);
  return done;
}

async function remove(tools: Tools, id: string): Promise<string> {
  try {
    // A running control plane tells by when it last saw the edge.
    if (!(await removeEdge(await parts(tools), id, commandLineActor, false))) throw noSuchEdge(id);
    return 'removed';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new UsageError(`The edge ${id} is connected, or was within the last 30 s: stop it first.`);
  }
}

const noSuchEdge = (id: string | undefined) =>
  new UsageError(`There is no edge ${id}; "edge list" shows them.`);

function checkedWeight(text: string): number {
  const weight = Number(text);
  if (text.trim() !== '' && Value.Check(EdgeWeight, weight)) return weight;
  throw new UsageError('--weight takes a whole number from 0 to 1000.');
}

function checkedRegion(text: string): string {
  if (Value.Check(RegionName, text)) return text;
  throw new UsageError('--region takes one line of 1 to 64 characters.');
}

async function changeProxies(
  tools: Tools,
  address: string | undefined,
  next: (known: readonly string[], address: string) => string[],
): Promise<string> {
  const wanted = next(await listProxies(tools.database.db), required(address, 'address').trim());
  try {
    const addresses = await setProxies(await parts(tools), wanted, commandLineActor);
    return addresses.length === 0 ? 'no proxy is trusted' : `trusted: ${addresses.join(', ')}`;
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(`"${address}" must be one IP address.`);
    throw error;
  }
}

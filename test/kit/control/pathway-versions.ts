/** Requests to the API of a pathway's versions. */
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { demoEdges, demoNodes } from '../../../control/demo-pathway.ts';
import type { TestControl } from './harness.ts';

export const versionedNumber = '+14155550100';
export const graph = { nodes: demoNodes, edges: demoEdges };

/** @param control the running control plane, @param path that of the pathway; both are read at every request */
export function versionRequests(control: () => TestControl, path: () => string) {
  const keep = (name: string, body: object = graph) =>
    control().call('POST', `${path()}/version`, { body: { name, ...body } });
  const change = (version: number | string, body: object = { name: 'x', ...graph }) =>
    control().call('POST', `${path()}/version/${version}`, { body });
  const remove = (version: number | string) => control().call('DELETE', `${path()}/version/${version}`);
  const publish = (body: object) => control().call('POST', `${path()}/publish`, { body });
  const lines = async () => (await control().call('GET', `${path()}/versions`)).body;
  return { keep, change, remove, publish, lines };
}

/** The agent of the number in an edge's configuration. */
export const agentIn = ({ numbers }: Pick<EdgeConfig, 'numbers'>) =>
  numbers.find((one) => one.number === versionedNumber)?.agent;

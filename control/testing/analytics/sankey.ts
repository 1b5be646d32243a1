/** How runs flow from scenarios through nodes to outcomes (contract 6.10). Pure. */
import type { EnhancedView } from '#shared/api/agent-testing/analytics.ts';
import { isFinished, type KnownNode, type RunGroup } from './rules.ts';

type Sankey = EnhancedView['sankey_data'];

/** Scenarios to nodes to outcomes: every passed or failed run follows the first visits of its nodes. */
export function sankeyOf(
  groups: readonly RunGroup[],
  paths: ReadonlyMap<string, readonly string[]>,
  known: ReadonlyMap<string, KnownNode>,
  scenarios: ReadonlyMap<string, string>,
): Sankey {
  const links = new Map<string, Sankey['links'][number]>();
  const starts = new Set<string>();
  const ends = new Set<string>();
  const goneOn = new Set<string>();
  const met = new Set<string>();
  for (const { status, path_id, scenario_id, runs } of groups) {
    if (!isFinished(status)) continue;
    const path = paths.get(path_id) ?? [];
    const passed = status === 'PASSED';
    const outcome = passed ? 'outcome:passed' : 'outcome:failed';
    const stations = [`scenario:${scenario_id}`, ...path.map((id) => `node:${id}`), outcome];
    for (const station of stations) met.add(station);
    stations.slice(1).forEach((target, index) => {
      const source = stations[index] ?? '';
      const key = `${source}\n${target}`;
      const link = links.get(key) ?? { source, target, value: 0, pass_count: 0, fail_count: 0 };
      link.value += runs;
      if (passed) link.pass_count += runs;
      else link.fail_count += runs;
      links.set(key, link);
    });
    path.forEach((id, index) => {
      if (index === 0) starts.add(id);
      if (index === path.length - 1) ends.add(id);
      else goneOn.add(id);
    });
  }
  const category = (id: string) => {
    if (starts.has(id)) return 'start';
    return ends.has(id) && !goneOn.has(id) ? 'end' : 'middle';
  };
  const nodes = [...met].map((station): Sankey['nodes'][number] => {
    const id = station.slice(station.indexOf(':') + 1);
    if (station.startsWith('scenario:')) {
      return { id: station, name: scenarios.get(id) ?? id, type: 'scenario', category: 'scenario' };
    }
    if (station.startsWith('outcome:')) {
      const name = id === 'passed' ? 'Passed' : 'Failed';
      return { id: station, name, type: 'outcome', category: 'outcome' };
    }
    const { name, type } = known.get(id) ?? { name: id, type: 'deleted' };
    return { id: station, name, type, category: category(id) };
  });
  return { nodes, links: [...links.values()] };
}

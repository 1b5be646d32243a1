/** Assembles a pathway's analytics (contract 6.9 and 6.10). */
import type { EnhancedView } from '#shared/api/agent-testing/analytics.ts';
import { type Db, fromJson, type PathwayRow } from '../../db/index.ts';
import { findVersion, latestVersion } from '../../pathways/index.ts';
import { round4, rounded } from '../judging/statistics.ts';
import {
  healthOf,
  heatmapOf,
  type KnownNode,
  reliabilityOf,
  totalsOf,
  totalsView,
  trendOf,
  weakestLink,
} from './rules.ts';
import { sankeyOf } from './sankey.ts';
import { firstWithin, flowWithin } from './size.ts';
import {
  dayCounts,
  distinctConversations,
  mostGroups,
  newestRuns,
  pathsOf,
  runGroups,
  scenarioCounts,
  scenarioNames,
  spanOf,
  statusCounts,
  weekCounts,
} from './store.ts';

/** JSON of each list of the enhanced analytics, bytes: all of them, included twice, fit the largest response. */
const partBytes = 1_048_576;
/** Most characters of a node's name, which is otherwise limited only as part of its graph. */
const mostNameChars = 200;

const shownStatus = { PASSED: 'passed', FAILED: 'failed', ERROR: 'error', CANCELLED: 'cancelled' } as const;

/** @param now ms */
export async function basicAnalytics(db: Db, { id, org_id }: PathwayRow, now: number, days: number) {
  const span = spanOf(now, days);
  const totals = totalsOf(await statusCounts(db, id, span), await distinctConversations(db, id, span));
  const names = await scenarioNames(db, org_id, id);
  const runs = await newestRuns(db, id, span.from);
  return {
    ...totalsView(totals),
    runs: runs.flatMap(({ id: run, scenario_id, status, overall_score, created_at }) => {
      if (status === 'PENDING' || status === 'RUNNING') return [];
      const scenario_name = names.get(scenario_id) ?? scenario_id;
      const score = rounded(overall_score);
      return [{ id: run, scenario_id, scenario_name, status: shownStatus[status], score, created_at }];
    }),
  };
}

/** @param now ms */
export async function enhancedAnalytics(
  db: Db,
  pathway: PathwayRow,
  now: number,
  days: number,
): Promise<EnhancedView> {
  const { id, org_id } = pathway;
  const span = spanOf(now, days);
  const all = await runGroups(db, id, span);
  const paths = await pathsOf(db, id, new Set(all.slice(0, mostGroups).map(({ path_id }) => path_id)));
  const groups = all.filter(({ path_id }) => path_id === '' || paths.has(path_id)).slice(0, mostGroups);
  const known = await knownNodes(db, pathway);
  const totals = totalsOf(await statusCounts(db, id, span), await distinctConversations(db, id, span));
  const reliable = reliabilityOf(await scenarioCounts(db, id, span));
  const heatmap = heatmapOf(groups, paths, known);
  const components = reliable.components.map((one) => ({ ...one, value: round4(one.value) }));
  const failures = heatmap.map((one) => ({ ...one, failure_rate: round4(one.failure_rate) }));
  const view = {
    ...totalsView(totals),
    health_score: rounded(healthOf(totals, reliable.score)),
    health_components: {
      pass_rate_lower: rounded(totals.interval?.low ?? null),
      avg_score: rounded(totals.avgScore),
      reliability: rounded(reliable.score),
    },
    reliability_score: rounded(reliable.score),
    reliability_components: firstWithin(components, partBytes),
    trend: trendOf(await weekCounts(db, id, now), await dayCounts(db, id, span)),
    node_failure_heatmap: firstWithin(failures, partBytes),
    weakest_link: weakestLink(heatmap),
    sankey_data: flowWithin(sankeyOf(groups, paths, known, await scenarioNames(db, org_id, id)), partBytes),
  };
  const cut = [
    ...(view.reliability_components.length < components.length ? ['reliability_components'] : []),
    ...(groups.length < all.length || view.node_failure_heatmap.length < failures.length
      ? ['node_failure_heatmap']
      : []),
    ...(groups.length < all.length || view.sankey_data.isCut ? ['sankey_data'] : []),
  ];
  const { nodes, links } = view.sankey_data;
  return { ...view, sankey_data: { nodes, links }, ...(cut.length > 0 && { omitted: cut.sort() }) };
}

/**
 * The nodes of the live graph, the newest version and those in use; any other node has only its id. Where names differ,
 * the live graph wins, then production.
 */
async function knownNodes(db: Db, pathway: PathwayRow): Promise<Map<string, KnownNode>> {
  const { id, production_version, staging_version } = pathway;
  const numbers = new Set([await latestVersion(db, id), staging_version, production_version]);
  const graphs: Pick<PathwayRow, 'nodes'>[] = [];
  for (const number of numbers) {
    const version = number === null || number === 0 ? undefined : await findVersion(db, id, number);
    if (version) graphs.push(version);
  }
  return new Map([...graphs, pathway].flatMap(namedNodes));
}

function namedNodes({ nodes }: Pick<PathwayRow, 'nodes'>): [string, KnownNode][] {
  const members = fromJson<{ id?: string; type?: string; data?: { name?: unknown } }[]>(nodes);
  return members.flatMap(({ id, type, data }): [string, KnownNode][] => {
    if (id === undefined || type === undefined) return [];
    const name = typeof data?.name === 'string' ? data.name : id;
    return [[id, { name: name.slice(0, mostNameChars), type }]];
  });
}

/** How the versions of a pathway do in its scenarios (contract 6.10). */
import type { VersionsView } from '#shared/api/agent-testing/analytics.ts';
import type { Db, PathwayRow } from '../../db/index.ts';
import { contentHash, pageOfVersions, versionLine } from '../../pathways/index.ts';
import { flakinessOf, rateOf } from '../judging/rates.ts';
import { spanOf } from './store.ts';
import {
  type ContentCount,
  contentCounts,
  type KnownScenario,
  knownScenarios,
  mostCounted,
} from './versions-store.ts';

/** Scenarios of an answer: required ones first, then those that failed most. */
const mostScenarios = 100;

interface Tested {
  readonly version_number: number;
  readonly name: string | null;
  readonly created_at: string | null;
  readonly environments: string[];
  readonly content_hash: string;
}

/** @param now ms */
export async function versionAnalytics(
  db: Db,
  pathway: PathwayRow,
  now: number,
  { days, limit, offset }: { readonly days: number; readonly limit: number; readonly offset: number },
): Promise<VersionsView> {
  const { id, org_id } = pathway;
  const live: Tested = {
    version_number: 0,
    name: null,
    created_at: null,
    environments: [],
    content_hash: contentHash(pathway),
  };
  // The live graph is the first of the list.
  const page = offset === 0 ? { limit: limit - 1, offset } : { limit, offset: offset - 1 };
  const { versions, total } = await pageOfVersions(db, id, page);
  const shown: Tested[] = [
    ...(offset === 0 ? [live] : []),
    ...versions.map((version) => versionLine(pathway, version, 0)),
  ];
  const counts = await contentCounts(db, id, spanOf(now, days).from);
  const counted_runs = counts.reduce((sum, { runs }) => sum + runs, 0);
  const tested = [...new Set(counts.map(({ scenario_id }) => scenario_id))];
  const all = scenariosOf(await knownScenarios(db, org_id, id, tested), shown, counts);
  const omitted = [
    ...(counted_runs < mostCounted ? [] : ['runs']),
    ...(all.length > mostScenarios ? ['scenarios'] : []),
  ];
  return {
    pathway_name: pathway.name,
    versions: shown.map(({ content_hash, environments, ...version }) => ({
      version_number: version.version_number,
      name: version.name,
      created_at: version.created_at,
      environments,
      ...ratesOf(counts.filter((one) => one.content_hash === content_hash)),
    })),
    total_count: total + 1,
    scenarios: all.slice(0, mostScenarios),
    counted_runs,
    ...(omitted.length > 0 && { omitted }),
  };
}

function ratesOf(counts: readonly ContentCount[]) {
  const sum = (name: 'passed' | 'failed' | 'errored' | 'distinct') =>
    counts.reduce((total, one) => total + one[name], 0);
  const [passed, failed] = [sum('passed'), sum('failed')];
  return {
    total_runs: passed + failed,
    passed,
    failed,
    errored: sum('errored'),
    ...rateOf(passed, passed + failed, sum('distinct')),
  };
}

/** Those that exist or were run on these versions. */
function scenariosOf(
  known: readonly KnownScenario[],
  versions: readonly Tested[],
  counts: readonly ContentCount[],
): VersionsView['scenarios'] {
  const byScenario = Map.groupBy(counts, ({ scenario_id }) => scenario_id);
  const all = known.flatMap((scenario) => {
    const own = byScenario.get(scenario.id) ?? [];
    const results = versions.flatMap(({ version_number, content_hash }) => {
      const found = own.filter((one) => one.content_hash === content_hash);
      const rates = ratesOf(found);
      if (found.length === 0) return [];
      return [{ version_number, ...rates, ...flakinessOf(rates.passed, rates.total_runs) }];
    });
    if (scenario.deleted_at !== null && results.length === 0) return [];
    return [
      {
        scenario_id: scenario.id,
        scenario_name: scenario.name,
        is_required_for_promotion: scenario.is_required_for_promotion === 1,
        enabled: scenario.enabled === 1 && scenario.deleted_at === null,
        results,
      },
    ];
  });
  const failed = (one: VersionsView['scenarios'][number]) =>
    one.results.reduce((sum, result) => sum + result.failed, 0);
  return all.toSorted(
    (a, b) =>
      Number(b.is_required_for_promotion) - Number(a.is_required_for_promotion) || failed(b) - failed(a),
  );
}

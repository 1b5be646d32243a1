/** How runs flow from scenarios through nodes to their outcome, and at which nodes they fail. */
import { type SankeyLink, type SankeyNode, sankey, sankeyLinkHorizontal } from 'd3-sankey';
import { useMemo, useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { Facts, LoadState } from '../../parts/pieces.tsx';
import { percent, RateBar } from '../../parts/rates.tsx';
import { endedRuns } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useWidth } from '../../parts/width.ts';
import { quality } from '../../text/quality.ts';
import { texts } from '../../text/texts.ts';
import { score } from '../tests/pieces.tsx';
import { drawable } from './flow.ts';

type Enhanced = Answer<'GET /v1/agent-testing/analytics/{pathwayId}/enhanced'>;
type Sankey = Enhanced['sankey_data'];
type Station = Sankey['nodes'][number];
type Way = Sankey['links'][number];
type Failures = Enhanced['node_failure_heatmap'][number];

const words = quality.flow;
/** Rows of the tables below the drawing: the drawing shows what matters. */
const shownRows = 100;
/** The drawing scrolls below this width, px. */
const leastWidth = 640;
const stationWidth = 10;
/** Room for the names at the right, px. */
const nameWidth = 150;
const shades = 5;

export function Flow({ pathway, days }: { readonly pathway: string; readonly days: number }) {
  const loaded = useLoaded(
    `flow ${pathway} ${days}`,
    (signal) =>
      request('GET /v1/agent-testing/analytics/{pathwayId}/enhanced', {
        path: { pathwayId: pathway },
        query: { days },
        signal,
      }),
    endedRuns,
  );
  const { data } = loaded;
  return (
    <>
      <section aria-labelledby="health-title">
        <h2 id="health-title">{quality.health.title}</h2>
        <LoadState of={loaded} />
        {data && <Health data={data} />}
      </section>
      {data && (
        <section aria-labelledby="flow-title">
          <h2 id="flow-title">{words.title}</h2>
          {data.sankey_data.links.length === 0 ? (
            <p class="quiet">{words.empty}</p>
          ) : (
            <Drawn data={data.sankey_data} failures={data.node_failure_heatmap} />
          )}
        </section>
      )}
    </>
  );
}

function Health({ data }: { data: Enhanced }) {
  const { health } = quality;
  return (
    <>
      <Facts
        rows={[
          [health.score, score(data.health_score)],
          [
            health.rate,
            <RateBar key="rate" rate={data.pass_rate} interval={data.pass_rate_interval} note={null} />,
          ],
          [health.reliability, percent(data.reliability_score)],
          [health.trend, health.trends[data.trend.weekly]],
          [
            health.weakest,
            data.weakest_link
              ? `${data.weakest_link.node_name} (${percent(data.weakest_link.failure_rate)})`
              : health.none,
          ],
        ]}
      />
      <p class="quiet">{health.scoreMeans}</p>
    </>
  );
}

function Drawn({ data, failures }: { data: Sankey; failures: readonly Failures[] }) {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box);
  const { drawn, left } = useMemo(() => drawable(data.links), [data]);
  const names = new Map(data.nodes.map(({ id, name }) => [id, name]));
  const name = (id: string) => names.get(id) ?? id;
  const columns: readonly Column<Way>[] = [
    { head: words.head.from, cell: (way) => name(way.source) },
    { head: words.head.to, cell: (way) => name(way.target), grows: true },
    { head: words.head.runs, cell: (way) => way.value, numeric: true },
    { head: words.head.passed, cell: (way) => way.pass_count, numeric: true },
  ];
  const failed: readonly Column<Failures>[] = [
    { head: words.failureHead.node, cell: (row) => row.node_name, grows: true },
    { head: words.failureHead.failed, cell: (row) => row.failure_count, numeric: true },
    { head: words.failureHead.runs, cell: (row) => row.total_traversals, numeric: true },
    { head: words.failureHead.share, cell: (row) => percent(row.failure_rate), numeric: true },
  ];
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <section ref={box} class="flow" aria-label={texts.lists.table(words.title)} tabIndex={0}>
        {width > 0 && <Drawing stations={data.nodes} ways={drawn} width={Math.max(leastWidth, width)} />}
      </section>
      {left > 0 && <p class="quiet">{words.left(left)}</p>}
      <details class="card">
        <summary>{words.table}</summary>
        <Table
          name={words.table}
          rows={data.links.toSorted((a, b) => b.value - a.value).slice(0, shownRows)}
          columns={columns}
          keyOf={(way) => `${way.source} ${way.target}`}
        />
      </details>
      <h3>{words.failures}</h3>
      <Table
        name={words.failures}
        rows={failures.filter(({ failure_count }) => failure_count > 0).slice(0, shownRows)}
        columns={failed}
        keyOf={(row) => row.node_id}
      />
    </>
  );
}

interface DrawingProps {
  readonly stations: readonly Station[];
  readonly ways: readonly Way[];
  readonly width: number;
}

function Drawing({ stations, ways, width }: DrawingProps) {
  const met = new Set(ways.flatMap(({ source, target }) => [source, target]));
  const shown = stations.filter(({ id }) => met.has(id));
  const height = Math.min(900, Math.max(180, shown.length * 34));
  const { links, nodes } = sankey<Station, Way>()
    .nodeId(({ id }) => id)
    .nodeWidth(stationWidth)
    .nodePadding(14)
    .extent([
      [1, 8],
      [width - nameWidth, height - 8],
    ])({
    // The layout writes its places into what it is given.
    nodes: shown.map((one) => ({ ...one })),
    links: ways.map((one) => ({ ...one })),
  });
  const path = sankeyLinkHorizontal<Station, Way>();
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={words.drawing(nodes.length, links.length)}
    >
      {links.map((link) => {
        const [from, to] = [stationOf(link.source), stationOf(link.target)];
        return (
          <path
            key={`${from?.id} ${to?.id}`}
            class={`way heat-${Math.round((link.pass_count / link.value) * shades)}`}
            d={path(link) ?? ''}
            stroke-width={Math.max(1, link.width ?? 1)}
          >
            <title>{words.link(from?.name ?? '', to?.name ?? '', link.value, link.pass_count)}</title>
          </path>
        );
      })}
      {nodes.map((node) => (
        <StationMark key={node.id} node={node} />
      ))}
    </svg>
  );
}

function StationMark({ node }: { readonly node: SankeyNode<Station, Way> }) {
  const { category, id, name, value = 0, x0 = 0, x1 = 0, y0 = 0, y1 = 0 } = node;
  const shade = category === 'outcome' ? (id === 'outcome:passed' ? 'good' : 'bad') : category;
  return (
    <g class={`station ${shade}`}>
      <rect x={x0} y={y0} width={x1 - x0} height={Math.max(1, y1 - y0)}>
        <title>{words.station(name, value)}</title>
      </rect>
      <text x={x1 + 5} y={(y0 + y1) / 2} dy="0.35em">
        {name.length > 22 ? `${name.slice(0, 21)}…` : name}
      </text>
    </g>
  );
}

/** After the layout the ends of a way are the stations themselves. */
function stationOf(end: SankeyLink<Station, Way>['source']): SankeyNode<Station, Way> | null {
  return typeof end === 'object' ? end : null;
}

/** Alert rules and dashboards: every expression is PromQL, and has metrics and labels that the programs really have. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { edgeMetrics, zeroCounters } from '#shared/edge-metrics.ts';
import { dashboardFiles } from '../scripts/dashboards.ts';
import { controlMetrics } from '../scripts/metrics-page.ts';

const root = dirname(import.meta.dirname);
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const { groups }: { groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[] } = parse(
  read('deploy', 'prometheus', 'trunkline.rules.yml'),
);
const rules = groups.flatMap((group) => group.rules);

const boards = [...dashboardFiles()].map(([name, text]) => ({ name, model: JSON.parse(text) }));
const queries = boards.flatMap(({ name, model }) =>
  model.panels.flatMap(({ title, targets }: { title: string; targets: readonly { expr: string }[] }) =>
    targets.map(({ expr }) => [`${name}, ${title}`, expr] as const),
  ),
);
const expressions: readonly (readonly [string, string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...queries,
];

/** Labels of every series, which Prometheus or control adds. */
const added = ['instance', 'job', 'edge'];
/** Series that are not ours. */
const foreign: ReadonlyMap<string, readonly string[]> = new Map([['up', ['job', 'instance']]]);

/** Labels by name of series. */
const series = new Map<string, readonly string[]>(foreign);
beforeAll(async () => {
  for (const [name, { labels }] of edgeMetrics) series.set(name, [...labels, ...added]);
  for (const { name, type, labels } of await controlMetrics()) {
    const all = [...labels, ...added.filter((label) => label !== 'edge')];
    if (type !== 'histogram') series.set(name, all);
    else {
      for (const ending of ['_sum', '_count']) series.set(name + ending, all);
      series.set(`${name}_bucket`, [...all, 'le']);
    }
  }
});

interface Parsed {
  readonly faults: number;
  readonly names: string[];
  readonly labels: string[];
  readonly values: string[];
}

/** What an expression names, with the variables of Grafana filled in. */
function parsed(expression: string): Parsed {
  const text = expression.replaceAll('$__rate_interval', '5m').replaceAll('$edge', '.*');
  const found = { faults: 0, names: [] as string[], labels: [] as string[], values: [] as string[] };
  parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      const part = text.slice(from, to);
      if (type.isError) found.faults += 1;
      if (type.name === 'Identifier') found.names.push(part);
      if (type.name === 'LabelName') found.labels.push(part);
      if (type.name === 'UnquotedLabelMatcher') found.values.push(part);
    },
  });
  return found;
}

describe('expressions', () => {
  it('are many', () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(queries.length).toBeGreaterThan(40);
  });

  it.each(expressions)('of %s are PromQL with real metrics and labels', (_, expression) => {
    const { faults, names, labels } = parsed(expression);
    expect(faults, expression).toBe(0);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !series.has(name))).toEqual([]);
    const known = new Set(names.flatMap((name) => series.get(name) ?? []));
    expect(labels.filter((label) => !known.has(label))).toEqual([]);
  });

  it('are not accepted with a fault, an unknown metric or an unknown label', () => {
    expect(parsed('rate(trunkline_edge_calls_total[5m)').faults).toBeGreaterThan(0);
    expect(parsed('sum by (reason) (trunkline_edge_no_metric)').names).toEqual(['trunkline_edge_no_metric']);
    expect(parsed('sum by (why) (up{job="x"})').labels).toEqual(['why', 'job']);
    expect(series.get('trunkline_edge_refused_total')).not.toContain('why');
  });

  it('have values of labels that the code has', () => {
    const code = ['edge', 'control', 'shared']
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
          .filter((file) => /(?<!\.test)\.ts$/.test(file))
          .map((file) => read(folder, file)),
      )
      .join('\n');
    const values = expressions
      .flatMap(([, expression]) => parsed(expression).values)
      .filter((matcher) => !/^(?:job|status="?5|status=~|method|edge|embedded)/.test(matcher))
      .flatMap((matcher) => (/"(.*)"/.exec(matcher)?.[1] ?? '').split('|'));
    expect(values.length).toBeGreaterThan(10);
    const unknown = values.filter((value) => !new RegExp(`['"]${value}['"]|\\b${value}:`).test(code));
    expect(unknown).toEqual([]);
  });
});

describe('alert rules', () => {
  it('about a first event have a series that is zero before it: increase() does not see what a series begins with', () => {
    const zeros = Object.keys({ ...zeroCounters('trunkline_edge_'), ...zeroCounters('trunkline_engine_') });
    const missing = rules
      .filter(({ expr }) => /increase\(.*> 0$/.test(expr))
      .flatMap(({ expr }) => [...expr.matchAll(/(trunkline_(?:edge|engine)_\w+)(?:\{(\w+)=~"([^"]*)"\})?/g)])
      .flatMap(([, name = '', label, values = '']) =>
        label === undefined ? [name] : values.split('|').map((value) => `${name}{${label}="${value}"}`),
      )
      .filter((series) => !zeros.includes(series));
    expect(missing).toEqual([]);
    expect(zeros).toContain('trunkline_engine_failures');
    expect(zeros.some((name) => name.includes('source_not_allowed'))).toBe(false);
  });

  it('have each name once, a severity, a summary, and a section of the runbook', () => {
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    for (const { alert, labels, annotations } of rules) {
      expect(labels.severity, alert).toMatch(/^(?:critical|warning)$/);
      expect(annotations.summary.length, alert).toBeGreaterThan(20);
      expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
    const [, alerts = '', incidents = ''] = read('docs', 'runbook.md').split(/^## (?:Alerts|Incidents)$/m);
    const sections = [...alerts.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(names);
    for (const section of alerts.split(/^### /m).slice(1))
      expect(section).toMatch(/\n- Look at: .+\n- Do: .+/);
    const reported = [...incidents.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
    expect(reported).toEqual(['One-way audio', 'No registration', '403 storm', 'Full disk']);
  });

  it('are those that the scrape configuration loads, from a control plane', () => {
    const { rule_files: files, scrape_configs: jobs } = parse(read('deploy', 'prometheus', 'prometheus.yml'));
    expect(files).toEqual(['trunkline.rules.yml']);
    expect(jobs).toMatchObject([{ job_name: 'trunkline', metrics_path: '/metrics' }]);
  });
});

describe('dashboards', () => {
  it('are as node scripts/dashboards.ts writes them', () => {
    const files = readdirSync(join(root, 'deploy', 'grafana')).sort();
    expect(files).toEqual([...dashboardFiles().keys()].sort());
    for (const [name, text] of dashboardFiles()) expect(read('deploy', 'grafana', name)).toBe(text);
  });

  it('have panels with a text, none above another', () => {
    for (const { model } of boards) {
      const places = model.panels.map(
        ({ gridPos: { x, y } }: { gridPos: { x: number; y: number } }) => `${x} ${y}`,
      );
      expect(new Set(places).size).toBe(places.length);
      for (const { description } of model.panels) expect(description).toMatch(/\.$/);
    }
  });
});

/** The screen of an address. Those that are not seen first are fetched when they are shown. */
import type { ComponentType } from 'preact';
import type { ScreenName } from '#shared/console-paths.ts';
import { isOperator } from '../api/session.ts';
import { Screen } from '../parts/pieces.tsx';
import { place } from '../router.ts';
import { texts } from '../text/texts.ts';
import { Calls } from './calls.tsx';
import { Edges } from './edges.tsx';
import { Later } from './later.tsx';
import { Overview } from './overview/overview.tsx';
import { Sessions } from './sessions.tsx';

type Shown = ComponentType<{ readonly id: string }>;
type Fetched = () => Promise<Shown>;

const fetched: Readonly<Partial<Record<ScreenName, Fetched>>> = {
  live: () => import('./live/live.tsx').then((one) => one.Live),
  call: () => import('./call/call.tsx').then((one) => one.Call),
  refused: () => import('./refused.tsx').then((one) => one.Refused),
  trunks: () => import('./trunks/trunks.tsx').then((one) => one.Trunks),
  trunk: () => import('./trunks/trunk.tsx').then((one) => one.Trunk),
  alerts: () => import('./alerts.tsx').then((one) => one.Alerts),
  connect: () => import('./connect/connect.tsx').then((one) => one.Connect),
  keys: () => import('./organization/keys.tsx').then((one) => one.Keys),
  organization: () => import('./organization/settings.tsx').then((one) => one.OrganizationSettings),
  changes: () => import('./organization/changes.tsx').then((one) => one.Changes),
  deliveries: () => import('./organization/deliveries.tsx').then((one) => one.Deliveries),
  pathways: () => import('./pathways/pathways.tsx').then((one) => one.Pathways),
  pathway: () => import('./pathways/pathway.tsx').then((one) => one.PathwayScreen),
  personas: () => import('./personas.tsx').then((one) => one.Personas),
  agents: () => import('./agents/agents.tsx').then((one) => one.ForeignAgents),
  agent: () => import('./agents/agent.tsx').then((one) => one.ForeignAgent),
  tests: () => import('./tests/scenarios.tsx').then((one) => one.Scenarios),
  test: () => import('./tests/scenario.tsx').then((one) => one.ScenarioScreen),
  runs: () => import('./tests/runs.tsx').then((one) => one.Runs),
  run: () => import('./tests/run.tsx').then((one) => one.RunScreen),
  sets: () => import('./tests/sets.tsx').then((one) => one.Sets),
  widgets: () => import('./widgets/widgets.tsx').then((one) => one.Widgets),
  widget: () => import('./widgets/widget.tsx').then((one) => one.WidgetScreen),
  tools: () => import('./tools/tools.tsx').then((one) => one.Tools),
  tool: () => import('./tools/tool.tsx').then((one) => one.ToolScreen),
  ports: () => import('./ports/ports.tsx').then((one) => one.Ports),
  port: () => import('./ports/port.tsx').then((one) => one.PortScreen),
  set: () => import('./tests/set.tsx').then((one) => one.SetScreen),
  matrices: () => import('./matrices/matrices.tsx').then((one) => one.Matrices),
  matrix: () => import('./matrices/matrix.tsx').then((one) => one.MatrixScreen),
  loads: () => import('./loads/loads.tsx').then((one) => one.Loads),
  load: () => import('./loads/load.tsx').then((one) => one.LoadScreen),
  watches: () => import('./watches/watches.tsx').then((one) => one.Watches),
  watch: () => import('./watches/watch.tsx').then((one) => one.WatchScreen),
  quality: () => import('./quality/pathways.tsx').then((one) => one.Qualities),
  pathwayQuality: () => import('./quality/quality.tsx').then((one) => one.PathwayQuality),
};

export function Shown() {
  const { screen, id } = place.value;
  if (screen === 'sessions') return <Sessions />;
  if (isOperator.value) {
    if (screen === 'edges' || screen === 'overview') return <Edges />;
    if (screen !== 'ports' && screen !== 'port') return <NotFound />;
  }
  if (screen === 'overview') return <Overview />;
  if (screen === 'calls') return <Calls />;
  const load = screen && fetched[screen];
  return load ? <Later key={`${screen} ${id}`} id={id} load={load} /> : <NotFound />;
}

function NotFound() {
  return (
    <Screen title={texts.notFound.title}>
      <p>{texts.notFound.text}</p>
    </Screen>
  );
}

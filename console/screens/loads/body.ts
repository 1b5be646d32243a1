/** What the form of a new load sends. Pure. */
import type { RequestParts } from '../../api/client.ts';

type LoadBody = RequestParts<'POST /v1/agent-testing/loads'>['body'];

/** Fields as they are in the form; '': empty. */
export interface LoadForm {
  readonly scenarios: readonly string[];
  readonly transport: string;
  readonly number: string;
  readonly from: string;
  readonly to: string;
  readonly step: string;
  readonly runs: string;
  readonly version: string;
}

/** One level when the last one is not above the first. */
export function loadBody(form: LoadForm): LoadBody {
  const [from, to, step] = [Number(form.from), Number(form.to), Number(form.step)];
  const { number, runs, scenarios, transport, version } = form;
  return {
    scenario_ids: scenarios,
    ...(to > from ? { ramp: { from, to, step } } : { concurrency: from }),
    runs_per_level: Number(runs),
    transport: transport === 'text' ? 'text' : 'sip',
    ...(number !== '' && { phone_number: number }),
    ...(version !== '' && { version_number: Number(version) }),
  };
}

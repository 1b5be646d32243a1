/** What a running control plane says about itself. */
import { fits, objectOf, type Shaped, text } from '#shared/shapes.ts';
import { type Check, type Finding, failed, ok, skipped } from './check.ts';
import { get } from './http.ts';
import { ofControl } from './with-settings.ts';

const healthShape = objectOf({ status: text }, {}, true);

async function health(url: string): Promise<Finding> {
  const response = await get(`${url}/health`).catch(() => null);
  if (!response)
    return skipped(`nothing answers at ${url}: control does not run, or CONTROL_URL is another one`);
  const answer: unknown = await response.json().catch(() => null);
  if (!fits(healthShape, answer)) {
    return failed(`${url}/health is not that of a control plane (${response.status})`, 'correct CONTROL_URL');
  }
  const { status }: Shaped<typeof healthShape> = answer;
  if (response.status === 200) return ok(`${url}/health says ${status}`);
  return failed(
    `${url}/health says ${status}: ${JSON.stringify(answer).slice(0, 500)}`,
    'docs/operations.md, "What /health says", has what each part means',
  );
}

export const healthChecks: readonly Check[] = [
  {
    name: 'control.health',
    program: 'control',
    about: '`GET /health` of the control plane, if it runs.',
    bad: 'It is 503: the answer names the part.',
    run: ofControl(({ url }) => health(url)),
  },
];

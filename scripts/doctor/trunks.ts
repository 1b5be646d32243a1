/** The health of an organization's trunks, as control knows it. */
import { counted } from '#shared/counted.ts';
import { fits, listOf, objectOf, type Shaped, text } from '#shared/shapes.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import type { Place } from './place.ts';
import { reasonOf } from './reason.ts';

const answerMs = 5000;
/** Of a page, which is the most that the API gives. */
const mostNumbers = 1000;
const mostShown = 5;

const answerShape = objectOf(
  {
    data: objectOf(
      { numbers: listOf(objectOf({ phone_number: text, health_status: text }, {}, true)) },
      {},
      true,
    ),
  },
  {},
  true,
);

/** What can stand in a header: of other text fetch would say all of it. */
const keyForm = /^[\x21-\x7e]+$/;

async function trunks({ apiKey, edge, control }: Place): Promise<Finding> {
  if (apiKey === null)
    return skipped('give an API key of the organization: TRUNKLINE_API_KEY, or --key-file');
  if (!keyForm.test(apiKey))
    return failed(
      'the API key has characters that are in no key',
      'give it as it was shown when it was made',
    );
  const own = 'settings' in control ? control.settings.url : null;
  const url = ('settings' in edge ? edge.settings.controlUrl : null) ?? own;
  if (url === null) return skipped('the address of control is not known');
  let answer: unknown;
  try {
    const response = await fetch(`${url}/v1/sip/numbers?limit=${mostNumbers}`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(answerMs),
    });
    if (response.status === 401 || response.status === 403)
      return failed(
        `control does not accept the API key (${response.status})`,
        'give a key of an organization, not of an operator',
      );
    answer = await response.json();
  } catch (error) {
    return skipped(`control cannot be asked: ${reasonOf(error)}`);
  }
  if (!fits(answerShape, answer))
    return failed('control answers with something else than numbers', 'correct CONTROL_URL');
  return judged(answer);
}

function judged({ data: { numbers } }: Shaped<typeof answerShape>): Finding {
  const away = numbers.filter(({ health_status: health }) => health === 'unreachable');
  if (away.length === 0) return ok(`${counted(numbers.length, 'number')}, none with an unreachable trunk`);
  const shown = away.slice(0, mostShown).map(({ phone_number: number }) => number);
  const more = away.length > mostShown ? ` and ${away.length - mostShown} more` : '';
  return warning(
    `the trunks of ${shown.join(', ')}${more} cannot be reached`,
    `GET /v1/sip/status?phone_number=${encodeURIComponent(shown[0] ?? '')} has each endpoint; docs/discovery.md finds out why`,
  );
}

export const trunkChecks: readonly Check[] = [
  {
    name: 'trunks.health',
    program: 'both',
    about:
      'The health of the trunks of one organization, as control knows it from its probes; needs an API key.',
    bad: 'All endpoints of a number cannot be reached.',
    run: trunks,
  },
];

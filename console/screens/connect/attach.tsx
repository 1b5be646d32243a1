/** Step 2: a number with the two directions of calls, filled in from what was found. */
import { useSignal } from '@preact/signals';
import { request } from '../../api/client.ts';
import { RequestFailed } from '../../api/problem.ts';
import { mayChange } from '../../api/session.ts';
import { Answering } from '../../parts/answering.tsx';
import { Form, textOf } from '../../parts/submit.tsx';
import { pathTo } from '../../router.ts';
import { connect } from '../../text/connect.ts';
import { type Discovery, stepTo } from './steps.ts';

const words = connect.attach;

interface AttachProps {
  readonly discovery: Discovery | null;
  /** That was attached; '': none yet. */
  readonly number: string;
}

export function Attach({ discovery, number }: AttachProps) {
  const warnings = useSignal<readonly string[]>([]);
  const attach = async (form: FormData) => {
    const phoneNumber = textOf(form, 'number');
    const { data } = await request('POST /v1/sip/attach', {
      body: { phone_number: phoneNumber, directions: directionsOf(form) },
    });
    const [failed] = data.failed;
    if (failed) throw refused(failed.error, failed.message);
    warnings.value = data.warnings;
    stepTo({ number: data.configured[0] ?? phoneNumber });
  };
  const recommended = discovery?.recommended;
  const endpoint = discovery && recommended ? `sip:${discovery.host}:${recommended.port}` : '';
  return (
    <section class="card" aria-labelledby="attach-title">
      <h2 id="attach-title">{words.title}</h2>
      {number !== '' && (
        <p class="row">
          <strong>{words.done(number)}</strong> <a href={pathTo('trunk', number)}>{words.openTrunk}</a>
          <button type="button" onClick={() => stepTo({ number: '', call: '' })}>
            {words.otherNumber}
          </button>
        </p>
      )}
      {number !== '' && <Answering number={number} />}
      {warnings.value.map((warning) => (
        <p key={warning} class="note warn">
          {warning}
        </p>
      ))}
      {number === '' && mayChange.value && (
        <Form
          key={discovery?.completed_at ?? ''}
          class="stacked"
          submit={words.go}
          run={attach}
          label={words.title}
        >
          <label>
            {words.number}
            <input name="number" type="tel" required placeholder="+14155550100" />
          </label>
          <fieldset>
            <label class="check">
              <input type="checkbox" name="outbound" defaultChecked />
              {words.outbound}
            </label>
            <label>
              {words.endpoint}
              <input
                name="endpoint"
                maxLength={255}
                placeholder="sip:sip.example.com:5061"
                defaultValue={endpoint}
              />
            </label>
          </fieldset>
          <fieldset>
            <label class="check">
              <input type="checkbox" name="inbound" defaultChecked />
              {words.inbound}
            </label>
            <label>
              {words.allowed}
              <textarea
                name="allowed"
                rows={3}
                defaultValue={discovery?.resolved_addresses.join('\n') ?? ''}
              />
            </label>
            <p class="quiet">{words.allowedHint}</p>
          </fieldset>
        </Form>
      )}
    </section>
  );
}

function refused(code: string, message: string): RequestFailed {
  return new RequestFailed({ status: 400, code, message, helps: null, requestId: null });
}

function directionsOf(form: FormData) {
  const endpoint = textOf(form, 'endpoint');
  const allowed = textOf(form, 'allowed')
    .split(/[\s,]+/)
    .filter((one) => one !== '');
  const directions = [
    ...(form.has('outbound')
      ? [{ type: 'outbound' as const, ...(endpoint !== '' && { sip_endpoint: endpoint }) }]
      : []),
    ...(form.has('inbound') ? [{ type: 'inbound' as const, options: { allowed_ips: allowed } }] : []),
  ];
  if (directions.length === 0) throw refused('PAGE', words.nothingChosen);
  return directions;
}

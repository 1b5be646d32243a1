/** Step 5: a test call, its steps as they happen, and whether audio goes both ways. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { offset } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, ProblemNote, type Tone } from '../../parts/pieces.tsx';
import { unchanging, underWay } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { connect } from '../../text/connect.ts';
import { stepTo } from './steps.ts';

type State = Answer<'GET /v1/sip/test-call/status'>['data'];

const words = connect.call;

const tones: Readonly<Record<State['result'], Tone>> = {
  pending: 'live',
  connected: 'good',
  failed: 'bad',
  busy: 'warn',
  no_answer: 'warn',
};

export function TestCall({ number, call }: { number: string; call: string }) {
  const start = async (form: FormData) => {
    const to = textOf(form, 'to');
    const keys = textOf(form, 'keys');
    const { data } = await request('POST /v1/sip/test-call', {
      body: {
        phone_number: number,
        ...(to !== '' && { to }),
        ...(keys !== '' && { dtmf: keys }),
      },
    });
    stepTo({ call: data.call_id });
  };
  return (
    <section class="card" aria-labelledby="test-call-title">
      <h2 id="test-call-title">{words.title}</h2>
      {number === '' && <p class="quiet">{words.first}</p>}
      {number !== '' && mayChange.value && (
        <Form submit={words.go} run={start} label={words.title}>
          <label>
            {words.to}
            <input name="to" type="tel" maxLength={64} placeholder={number} />
          </label>
          <label>
            {words.keys}
            <input name="keys" maxLength={32} pattern="[0-9*#A-Dw]*" placeholder="1w2" />
          </label>
        </Form>
      )}
      {call !== '' && <Progress key={call} id={call} />}
    </section>
  );
}

function Progress({ id }: { id: string }) {
  const loaded = useLoaded(
    `test call ${id}`,
    async (signal) =>
      (await request('GET /v1/sip/test-call/status', { query: { call_id: id }, signal })).data,
    ({ result }) =>
      result === 'pending' ? { events: { types: 'test_call', subject_id: id }, ...underWay } : unchanging,
  );
  const { data } = loaded;
  if (!data) return loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />;
  const begin = Date.parse(data.timeline[0]?.at ?? '');
  return (
    <>
      <p class="row" role="status">
        <Badge tone={tones[data.result]}>{words.results[data.result]}</Badge>
        {data.media && (
          <Badge tone={data.media.verdict === 'two_way' ? 'good' : 'bad'}>
            {words.verdicts[data.media.verdict]}
          </Badge>
        )}
        {data.media && (
          <span class="quiet">{words.packets(data.media.packets_sent, data.media.packets_received)}</span>
        )}
        {data.codec && <span class="quiet">{data.codec}</span>}
        {data.error && <code>{data.error}</code>}
      </p>
      {data.diagnosis && <p class="note bad">{data.diagnosis}</p>}
      {data.result === 'connected' && !data.diagnosis && <p>{words.fine}</p>}
      <ol class="steps" aria-label={words.timeline}>
        {data.timeline.map((one) => (
          <li key={`${one.event} ${one.at} ${one.detail}`}>
            <span class="quiet">{offset(Date.parse(one.at) - begin)}</span>
            <strong>{words.events[one.event]}</strong>
            <span>{one.detail}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Step 1: what answers at a host, how, and what it is. Its progress is pushed by events. */
import { request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { figure } from '../../parts/format.ts';
import type { Loaded } from '../../parts/load.ts';
import { Badge, Empty, Facts, ProblemNote, Time } from '../../parts/pieces.tsx';
import { percent } from '../../parts/rates.tsx';
import { Form, textOf } from '../../parts/submit.tsx';
import { Table } from '../../parts/table.tsx';
import { connect } from '../../text/connect.ts';
import { type Discovery, stepTo } from './steps.ts';

const words = connect.find;
type Attempt = Discovery['attempts'][number];

const transports = ['tls', 'tcp', 'udp'] as const;

export function Find({ found }: { found: Loaded<Discovery | null> }) {
  const { data } = found;
  const probe = async (form: FormData) => {
    const port = textOf(form, 'port');
    const transport = transports.find((one) => one === textOf(form, 'transport'));
    const started = await request('POST /v1/sip/discover', {
      body: {
        host: textOf(form, 'host'),
        ...(port !== '' && { port: Number(port) }),
        ...(transport && { transport }),
      },
    });
    stepTo({ discovery: started.data.discovery_id });
    found.reload();
  };
  return (
    <section class="card" aria-labelledby="find-title">
      <h2 id="find-title">{words.title}</h2>
      {mayChange.value && (
        <Form submit={words.go} run={probe} label={words.title}>
          <label class="grows">
            {words.host}
            <input
              name="host"
              required
              maxLength={255}
              placeholder="sip.example.com"
              defaultValue={data?.host ?? ''}
            />
          </label>
          <label>
            {words.port}
            <input name="port" type="number" min="1" max="65535" />
          </label>
          <label>
            {words.transport}
            <select name="transport">
              <option value="">{words.any}</option>
              {transports.map((one) => (
                <option key={one} value={one}>
                  {one.toUpperCase()}
                </option>
              ))}
            </select>
          </label>
        </Form>
      )}
      {found.problem && <ProblemNote problem={found.problem} />}
      {data && <Found discovery={data} />}
    </section>
  );
}

function Found({ discovery }: { discovery: Discovery }) {
  const { status, error, recommended, attempts } = discovery;
  return (
    <>
      {status === 'running' && <p role="status">{words.running}</p>}
      {error && (
        <p class="note bad">
          <span>
            <strong>{words.failed}</strong> {error.message} <code>{error.code}</code>
          </span>
        </p>
      )}
      {status === 'completed' && !recommended && <Empty title={words.nothing}>{words.nothingNext}</Empty>}
      {recommended && <Recommended discovery={discovery} recommended={recommended} />}
      {attempts.length > 0 && (
        <details class="figures" open={!recommended}>
          <summary>
            {words.attempts} <span class="quiet">{attempts.length}</span>
          </summary>
          <Attempts attempts={attempts} />
        </details>
      )}
    </>
  );
}

function Recommended(props: { discovery: Discovery; recommended: NonNullable<Discovery['recommended']> }) {
  const { recommended, discovery } = props;
  const { tls } = discovery;
  return (
    <>
      <p class="row">
        <strong>{words.found(recommended.detected_system)}</strong>
        <span class="quiet">{words.sure(percent(recommended.confidence))}</span>
        <Badge tone={recommended.usable ? 'good' : 'bad'}>
          {recommended.usable ? words.usable : words.notUsable}
        </Badge>
        <span>
          {discovery.host}:{recommended.port} {recommended.transport.toUpperCase()}
        </span>
      </p>
      <p>{recommended.reason}</p>
      <Facts
        rows={[
          [words.evidence, recommended.evidence.join('; ') || '–'],
          ...(tls
            ? [
                [
                  words.tls,
                  <span key="tls">
                    {tls.subject}{' '}
                    <Badge tone={tls.trusted ? 'good' : 'warn'}>
                      {tls.trusted ? words.trusted : words.notTrusted}
                    </Badge>{' '}
                    <span class="quiet">
                      {tls.version}, {words.until} <Time at={tls.valid_to} />
                    </span>
                  </span>,
                ] as const,
              ]
            : []),
        ]}
      />
    </>
  );
}

function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  const { head } = words;
  return (
    <Table
      name={words.attempts}
      rows={attempts}
      keyOf={(one) => `${one.address} ${one.port} ${one.transport}`}
      columns={[
        {
          head: head.where,
          cell: (one) => `${one.address}:${one.port} ${one.transport.toUpperCase()}`,
        },
        {
          head: head.answer,
          cell: (one) =>
            one.response_code === null ? (
              <Badge tone="bad">{one.error ? words.errors[one.error] : '–'}</Badge>
            ) : (
              <Badge tone="good">{words.answered(one.response_code)}</Badge>
            ),
        },
        { head: head.time, cell: (one) => figure(one.response_time_ms, 0, 'ms'), numeric: true },
        { head: head.agent, cell: (one) => one.user_agent ?? '', from: 'medium', grows: true },
        { head: head.problem, cell: (one) => one.message ?? '', from: 'wide', grows: true },
      ]}
    />
  );
}

/** Noises of the organization, for weathers: upload, listen, delete. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { pageProblem, RequestFailed } from '../../api/problem.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { figure } from '../../parts/format.ts';
import { Time } from '../../parts/pieces.tsx';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { matrices } from '../../text/matrices.ts';

export type NoiseRow = Answer<'GET /v1/agent-testing/noises'>['noises'][number];

/** As the API takes it. */
const mostBytes = 750_000;
const words = matrices.noises;
const { head } = words;

interface NoisesProps {
  readonly noises: readonly NoiseRow[];
  readonly reload: () => void;
}

export function Noises({ noises, reload }: NoisesProps) {
  const heard = useSignal<string | null>(null);
  const remove = async (id: string) => {
    await request('DELETE /v1/agent-testing/noises/{id}', { path: { id } });
    reload();
  };
  const columns: readonly Column<NoiseRow>[] = [
    { head: head.name, cell: ({ name }) => name, grows: true },
    { head: head.seconds, cell: ({ seconds }) => figure(seconds, 1, 's'), numeric: true },
    {
      head: head.sound,
      cell: ({ id, name }) =>
        heard.value === id ? (
          // biome-ignore lint/a11y/useMediaCaption: a noise has no words
          <audio
            controls
            autoplay
            aria-label={words.listenTo(name)}
            src={`/v1/agent-testing/noises/${encodeURIComponent(id)}/sound`}
          />
        ) : (
          <button
            type="button"
            aria-label={words.listenTo(name)}
            onClick={() => {
              heard.value = id;
            }}
          >
            {words.listen}
          </button>
        ),
    },
    { head: head.created, cell: (row) => <Time at={row.created_at} />, from: 'wide' },
    ...(mayChange.value
      ? [
          {
            head: head.action,
            cell: ({ id, name }: NoiseRow) => (
              <AskedButton words={words.remove} name={name} run={() => remove(id)} />
            ),
          },
        ]
      : []),
  ];
  return (
    <section class="card" aria-labelledby="noises">
      <h2 id="noises">{words.title}</h2>
      <p class="quiet">{words.intro}</p>
      {noises.length > 0 && (
        <Table name={words.title} rows={noises} columns={columns} keyOf={({ id }) => id} />
      )}
      {mayChange.value && <Upload reload={reload} />}
    </section>
  );
}

function Upload({ reload }: Pick<NoisesProps, 'reload'>) {
  const add = async (data: FormData) => {
    const file = data.get('file');
    if (!(file instanceof File)) return;
    const wav = await base64Of(file);
    await request('POST /v1/agent-testing/noises', { body: { name: textOf(data, 'name'), wav } });
    reload();
  };
  return (
    <Form submit={words.add} run={add} label={words.title}>
      <label>
        {words.name}
        <input name="name" required maxLength={200} />
      </label>
      <label>
        {words.file}
        <input name="file" type="file" accept="audio/wav,.wav" required />
      </label>
    </Form>
  );
}

/** @throws RequestFailed for a file that the API does not take */
async function base64Of(file: File): Promise<string> {
  if (file.size > mostBytes)
    throw new RequestFailed(pageProblem('TOO_LARGE', words.tooLarge, words.tooLargeHelps));
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}

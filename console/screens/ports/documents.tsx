/** Proofs of ownership: uploaded here, listed, and chosen for a port request. */
import { useSignal } from '@preact/signals';
import { type Answer, request, send } from '../../api/client.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import type { Loaded } from '../../parts/load.ts';
import { LoadState, Time } from '../../parts/pieces.tsx';
import { Form } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ports as words } from '../../text/ports.ts';

export type PortDocument = Answer<'GET /v1/sip/port/document'>['data']['documents'][number];

const { papers } = words;

/** How a document is named where it is chosen: its id has no meaning for people. */
export function nameOf({ document_sid: id, media_type: type, size }: PortDocument): string {
  return `${papers.kinds[type] ?? type}, ${papers.size(size)}, …${id.slice(-6)}`;
}

/** The API reads its type from its content, and says in a sentence why it takes one not. */
export function Documents({ loaded }: { readonly loaded: Loaded<readonly PortDocument[]> }) {
  const stored = useSignal(false);
  const upload = async (data: FormData) => {
    stored.value = false;
    await send('POST /v1/sip/port/document', { body: data });
    stored.value = true;
    loaded.reload();
  };
  const { data } = loaded;
  return (
    <section class="card" aria-labelledby="papers-title">
      <h2 id="papers-title">{papers.title}</h2>
      <p class="quiet">{papers.text}</p>
      <Form label={papers.title} submit={papers.upload} run={upload}>
        <label class="grows">
          {papers.file}
          <input name="file" type="file" required accept=".pdf,image/png,image/jpeg,image/gif,image/webp" />
        </label>
      </Form>
      <p role="status">{stored.value && papers.stored}</p>
      <LoadState of={loaded} />
      {data && data.length > 0 && (
        <Table
          name={papers.title}
          rows={data}
          columns={columnsOf(loaded.reload)}
          keyOf={(one) => one.document_sid}
        />
      )}
    </section>
  );
}

const columnsOf = (reload: () => void): readonly Column<PortDocument>[] => [
  { head: papers.head.document, cell: nameOf },
  { head: papers.head.uploaded, cell: (one) => <Time at={one.created_at} />, from: 'medium' },
  { head: papers.head.used, cell: ({ in_use: used }) => (used ? papers.used : papers.unused) },
  {
    head: papers.head.remove,
    cell: (one) =>
      !one.in_use && (
        <AskedButton
          words={papers.remove}
          name={nameOf(one)}
          run={async () => {
            const path = { document_sid: one.document_sid };
            await request('DELETE /v1/sip/port/document/{document_sid}', { path });
            reload();
          }}
        />
      ),
  },
];

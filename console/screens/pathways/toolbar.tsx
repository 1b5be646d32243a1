/** What is done with an edited graph: taken back, arranged, saved, published. */
import { useSignal } from '@preact/signals';
import { nodeTypes } from '#shared/agent/graph-node.ts';
import { request } from '../../api/client.ts';
import { type Problem, pageProblem, RequestFailed } from '../../api/problem.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { ActButton, Form, textOf } from '../../parts/submit.tsx';
import { navigate } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import type { Editor } from './editor.ts';
import { placeOf } from './problems.ts';
import { withChoice } from './replay.tsx';

const words = pathways.edit;

interface ToolbarProps {
  readonly editor: Editor;
  readonly openForm: () => void;
}

interface SaveProps {
  readonly editor: Editor;
  readonly pathway: string;
  /** 0: the draft */
  readonly version: number;
  /** Of the version. */
  readonly name: string;
  readonly inProduction: boolean;
  /** Reads what is stored by now. */
  readonly reload: () => void;
}

export function Toolbar({ editor, openForm }: ToolbarProps) {
  const adding = useSignal<string>(nodeTypes[0]);
  return (
    <div class="row toolbar" role="toolbar" aria-label={words.toolbar}>
      <select
        aria-label={words.addType}
        value={adding.value}
        onChange={({ currentTarget: { value } }) => {
          adding.value = value;
        }}
      >
        {nodeTypes.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <button
        type="button"
        onClick={() => {
          editor.add(adding.value);
          openForm();
        }}
      >
        {words.add}
      </button>
      <button
        type="button"
        onClick={() => {
          editor.selected.value = { kind: 'all' };
          openForm();
        }}
      >
        {words.all}
      </button>
      <button type="button" onClick={() => editor.arrange()}>
        {words.arrange}
      </button>
      <button type="button" aria-disabled={!editor.canUndo.value} onClick={() => editor.undo()}>
        {words.undo}
      </button>
      <button type="button" aria-disabled={!editor.canRedo.value} onClick={() => editor.redo()}>
        {words.redo}
      </button>
    </div>
  );
}

export function Findings({ editor, openForm }: ToolbarProps) {
  const graph = editor.graph.value;
  const findings = editor.findings.value;
  const wrong = findings.filter((one) => !one.isWarning);
  return (
    <div role="status">
      {findings.length > 0 && (
        <div class={wrong.length > 0 ? 'note bad' : 'note warn'}>
          <p>
            <strong>{wrong.length > 0 ? words.wrong(wrong.length) : words.warnings(findings.length)}</strong>
          </p>
          <ul>
            {findings.slice(0, shownFindings).map((finding) => {
              const place = placeOf(graph, finding);
              return (
                <li key={`${finding.path} ${finding.message}`}>
                  {place === null ? (
                    finding.message
                  ) : (
                    <button
                      type="button"
                      class="plain"
                      onClick={() => {
                        editor.selected.value = place;
                        openForm();
                      }}
                    >
                      {finding.message}
                    </button>
                  )}{' '}
                  <code>{finding.path}</code>
                </li>
              );
            })}
          </ul>
        </div>
      )}
    </div>
  );
}

/** As many as the API names. */
const shownFindings = 20;

const refused = (message: string): RequestFailed =>
  new RequestFailed(pageProblem('NOT_SAVED', message, words.nothingSaved));

export function SaveForms({ editor, pathway, version, name, inProduction, reload }: SaveProps) {
  const state = useSignal<'none' | 'saved' | 'conflict'>('none');
  const path = { id: pathway };
  /** @throws RequestFailed with places, which are marked in the graph */
  const sending = async <T,>(send: () => Promise<T>): Promise<T> => {
    if (editor.unread.peek().size > 0) throw refused(words.unread);
    if (editor.findings.peek().some((one) => !one.isWarning)) throw refused(words.invalid);
    state.value = 'none';
    try {
      return await send();
    } catch (error) {
      if (error instanceof RequestFailed) markProblem(editor, error.problem);
      throw error;
    }
  };
  const store = (expected: string | undefined) =>
    sending(async () => {
      const graph = editor.graph.peek();
      const body = { ...graph, ...(expected !== undefined && { expected_hash: expected }) };
      const at = { id: pathway, version_id: String(version) };
      try {
        if (version === 0) await request('POST /v1/pathway/{id}', { path, body });
        else {
          await request('POST /v1/pathway/{id}/version/{version_id}', { path: at, body: { ...body, name } });
        }
      } catch (error) {
        if (error instanceof RequestFailed && error.problem.code === 'GRAPH_CHANGED')
          state.value = 'conflict';
        throw error;
      }
      const { content_hash: hash } = await request('GET /v1/pathway/{id}/version/{version_id}', { path: at });
      editor.saved(graph, hash);
      state.value = 'saved';
      reload();
    });
  const asVersion = (data: FormData) =>
    sending(async () => {
      const graph = editor.graph.peek();
      const body = { ...graph, name: textOf(data, 'name') };
      const { data: made } = await request('POST /v1/pathway/{id}/version', { path, body });
      // The changes are in the new version now; what is shown here is as it was stored.
      editor.saved(graph, '');
      navigate(withChoice({ version: String(made.version_number), with: '' }));
    });
  return (
    <section class="card" aria-label={words.save}>
      <p class="quiet">{editor.changed.value ? words.changed : words.unchanged}</p>
      {inProduction ? (
        <p>{words.inProduction}</p>
      ) : (
        <div>
          <ActButton run={() => store(editor.stored.peek().hash)}>{words.store(version)}</ActButton>
        </div>
      )}
      <p role="status">{state.value === 'saved' && !editor.changed.value && words.saved}</p>
      {state.value === 'conflict' && (
        <p class="row">
          <AskedButton words={words.overwrite} name={words.of(version)} run={() => store(undefined)} />
          <AskedButton
            words={words.discard}
            name={words.of(version)}
            run={async () => {
              const at = { id: pathway, version_id: String(version) };
              editor.revert(await request('GET /v1/pathway/{id}/version/{version_id}', { path: at }));
              state.value = 'none';
            }}
          />
        </p>
      )}
      <Form label={words.asVersion} submit={words.asVersionSave} run={asVersion}>
        <label class="grows">
          {words.asVersion}
          <input name="name" required maxLength={200} autocomplete="off" />
        </label>
      </Form>
    </section>
  );
}

/** The API's own findings go to the nodes that they are about. */
function markProblem(editor: Editor, { places = [] }: Problem): void {
  editor.answered.value = places.flatMap(({ path, message }) =>
    /^\/(nodes|edges)\//.test(path) ? [{ path, message, isWarning: false }] : [],
  );
}

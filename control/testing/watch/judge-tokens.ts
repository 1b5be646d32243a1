/** What a judge with a model takes of a watch's budget: by its characters before it is asked, by its server's counts after. */
import type { AssertionType, AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { Usage } from '#shared/models/language-model.ts';
import type { ConversationRecord } from '../judging/ports.ts';

const byModel: ReadonlySet<AssertionType> = new Set(['LLM_JUDGE', 'CUSTOM_LLM', 'SERVICE_TONE']);
/** Of what a judge is told besides the conversation and the assertion, and of its answer. */
const overhead = 6000;
const charactersOfToken = 3;

/** Tokens for a call at most, if each of these is asked once; 0: none is. */
export function tokensFor(assertions: readonly AssertionView[], record: ConversationRecord): number {
  const said = record.chat_history.reduce((sum, { content }) => sum + content.length + 20, 0);
  return assertions
    .filter(({ type }) => byModel.has(type))
    .reduce((sum, { config }) => {
      const characters = said + JSON.stringify(config).length + overhead;
      return sum + Math.ceil(characters / charactersOfToken);
    }, 0);
}

/** Counts the requests of a judge, and the tokens that its server tells. */
export class JudgeTokens {
  #told = 0;
  #untold = 0;

  readonly count = ({ input_tokens, output_tokens }: Pick<Usage, 'input_tokens' | 'output_tokens'>): void => {
    if (input_tokens === null || output_tokens === null) this.#untold++;
    else this.#told += input_tokens + output_tokens;
  };

  /** @param estimated for all of these; a request without a count takes its part of it */
  spent(estimated: number, assertions: readonly AssertionView[]): number {
    const asked = assertions.filter(({ type }) => byModel.has(type)).length;
    const each = asked === 0 ? 0 : Math.ceil(estimated / asked);
    return this.#told + this.#untold * each;
  }
}

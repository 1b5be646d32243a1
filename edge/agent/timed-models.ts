/** The models of an agent, which tell when the first part of a reply has come. */
import type { DialogueModel } from '#shared/agent/dialogue.ts';
import type { AgentModels } from '#shared/models/models.ts';
import type { TurnTimes } from './turn-times.ts';

export function timedModels({ understanding, dialogue }: AgentModels, times: TurnTimes): AgentModels {
  return { understanding, dialogue: dialogue.evaluator.deterministic ? dialogue : timed(dialogue, times) };
}

function timed(model: DialogueModel, times: TurnTimes): DialogueModel {
  return {
    evaluator: model.evaluator,
    async *reply(question) {
      let first = true;
      for await (const part of model.reply(question)) {
        if (first) times.token();
        first = false;
        yield part;
      }
    },
  };
}

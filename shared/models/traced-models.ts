/** Language models whose requests are spans. */
import type { Attributes, SpanIds, Tracing } from '#shared/tracing/tracing.ts';
import type { ModelTrace } from './language-model.ts';
import type { Models } from './models.ts';

/** @param parent of the span of each request; default: the span that is active when it begins */
export function modelTrace(
  tracing: Tracing,
  attributes: Attributes = {},
  parent: () => SpanIds | null = () => tracing.active,
): ModelTrace {
  return (role, model) =>
    tracing.begin('model request', {
      kind: 'client',
      parent: parent(),
      attributes: { ...attributes, 'trunkline.model_role': role, 'gen_ai.request.model': model },
    });
}

export function tracedModels(models: Models, tracing: Tracing): Models {
  return models.traced(modelTrace(tracing));
}
